/** The owner API as the portal calls it: bounded in time, and the token goes nowhere else. */
import { createServer, type RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { listVehicles, type ListVehicles, type OwnerApiOptions } from '../src/owner-api.ts'
import { serve, type RunningServer } from '../src/server.ts'

const running: RunningServer[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

const tokens: OwnerApiOptions['tokens'] = {
  accepted: () => undefined,
  getAccessToken: async () => 'token',
  invalidate: async () => false,
  status: async () => ({ state: 'valid' }),
}

async function apiThat(listener: RequestListener, timeout = 2000): Promise<ListVehicles> {
  const server = await serve(listener, '127.0.0.1', 0)
  running.push(server)
  return listVehicles({ url: `${server.url}/`, vehicleList: '/api/1/vehicles', tokens, timeout })
}

function answering(body: string, status = 200): RequestListener {
  return (_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

describe('the owner API', () => {
  it('gives a vehicle without a name one, and leaves out what it does not know', async () => {
    const api = await apiThat(answering(JSON.stringify({ response: [{ id: 7, display_name: '', vin: 'x' }] })))
    expect(await api('a')).toEqual([{ name: 'Vehicle without a name', vin: 'x' }])
  })

  it('leaves out what has no VIN: an energy site among the products', async () => {
    const list = [
      { energy_site_id: 7, id: 'STE1' },
      { id: 7, vin: 'x', display_name: 'Daily' },
      { id: 'STE2', vin: null },
      {},
    ]
    const api = await apiThat(answering(JSON.stringify({ response: list })))
    expect(await api('a')).toEqual([{ name: 'Daily', vin: 'x' }])
  })

  it.each(['', 'null', '[]', '{}', '{"response":{}}', '{"response":[null]}'])(
    'says that the answer %j can’t be read',
    async (body) => {
      const api = await apiThat(answering(body))
      await expect(api('a')).rejects.toMatchObject({ name: 'OwnerApiError', status: 502 })
    },
  )

  it('does not follow a redirect, which would take the token along', async () => {
    const stranger: string[] = []
    const elsewhere = await serve(
      (request, response) => {
        stranger.push(request.headers.authorization ?? '')
        response.end('{}')
      },
      '127.0.0.1',
      0,
    )
    running.push(elsewhere)
    const api = await apiThat((_request, response) => response.writeHead(302, { location: elsewhere.url }).end())
    await expect(api('a')).rejects.toMatchObject({ status: 502 })
    expect(stranger).toEqual([])
  })

  it('stops waiting for an answer that drips', async () => {
    const api = await apiThat((_request, response) => {
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    }, 200)
    await expect(api('a')).rejects.toMatchObject({ status: 504 })
  })

  it('says that it can’t be reached', async () => {
    const server = createServer()
    const { url, close } = await serve((_request, response) => response.end(), '127.0.0.1', 0)
    await close()
    const api = listVehicles({ url, vehicleList: '/api/1/vehicles', tokens })
    await expect(api('a')).rejects.toMatchObject({ status: 502 })
    server.close()
  })
})
