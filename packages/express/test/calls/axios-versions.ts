/**
 * The versions of axios that `attachBearer` is tried with: the oldest of its range, the newest, and two between that send a
 * token to the environment's proxy if they are let.
 */
import axios, { type AxiosStatic } from 'axios'
import axios12 from 'axios-1-12'
import axios13 from 'axios-1-13'
import axios7 from 'axios-1-7'

/** Their types differ in what no test uses. */
const statics = [axios7, axios12, axios13, axios] as unknown as AxiosStatic[]

export const axiosVersions: readonly (readonly [version: string, AxiosStatic])[] = statics.map((each) => [
  each.VERSION,
  each,
])
