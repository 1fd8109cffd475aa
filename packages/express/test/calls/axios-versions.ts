/**
 * The versions of axios that `attachBearer` is tried with: the oldest of its range, which begins where no advisory is known, and the
 * newest.
 */
import axios, { type AxiosStatic } from 'axios'
import axios19 from 'axios-1-19'

/** Their types differ in what no test uses. */
const statics = [axios19, axios] as unknown as AxiosStatic[]

export const axiosVersions: readonly (readonly [version: string, AxiosStatic])[] = statics.map((each) => [
  each.VERSION,
  each,
])
