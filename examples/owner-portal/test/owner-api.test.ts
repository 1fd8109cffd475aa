/** The owner API as the portal calls it: bounded in time and size, and the token goes nowhere else. */
import { createServer, type RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createOwnerApi, type OwnerApi, type OwnerApiOptions } from '../src/owner-api.ts'
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

async function apiThat(listener: RequestListener, timeout = 2000): Promise<OwnerApi> {
  const server = await serve(listener, '127.0.0.1', 0)
  running.push(server)
  return createOwnerApi({ url: `${server.url}/`, vehicleList: '/api/1/vehicles', tokens, timeout })
}

function answering(body: string, status = 200): RequestListener {
  return (_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

describe('the owner API', () => {
  it('gives a vehicle without a name one, and leaves out what it does not know', async () => {
    const api = await apiThat(answering(JSON.stringify({ response: [{ id: 7, display_name: '', vin: 5 }] })))
    expect(await api.vehicles('a')).toEqual([{ id: '7', name: 'Vehicle without a name' }])
  })

  it('keeps the id of a vehicle to its last digit, where a JavaScript number would not', async () => {
    const ids = ['9007199254740993', '12345678901234567891', '7']
    const name = String.raw`,"id":9007199254740993,`
    const list = ids.map((id) => `{"id" : ${id}\n, "vin":"x", "display_name":${JSON.stringify(name)}}`)
    const api = await apiThat(answering(`{"response":[${list.join()}]}`))
    expect(await api.vehicles('a')).toEqual(ids.map((id) => ({ id, name, vin: 'x' })))
  })

  it('leaves out what has no VIN: an energy site among the products', async () => {
    const list = [
      { energy_site_id: 7, id: 'STE1' },
      { id: 7, vin: 'x', display_name: 'Daily' },
      { id: 'STE2', vin: null },
      {},
    ]
    const api = await apiThat(answering(JSON.stringify({ response: list })))
    expect(await api.vehicles('a')).toEqual([{ id: '7', name: 'Daily', vin: 'x' }])
  })

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"response":{}}',
    '{"response":[null]}',
    '{"response":[{"vin":"x"}]}',
    '{"response":[{"id":{},"vin":"x"}]}',
  ])('says that the answer %j can’t be read', async (body) => {
    const api = await apiThat(answering(body))
    await expect(api.vehicles('a')).rejects.toMatchObject({ name: 'OwnerApiError', status: 502 })
  })

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
    await expect(api.vehicles('a')).rejects.toMatchObject({ status: 502 })
    expect(stranger).toEqual([])
  })

  it('stops waiting for an answer that drips', async () => {
    const api = await apiThat((_request, response) => {
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    }, 200)
    await expect(api.vehicles('a')).rejects.toMatchObject({ status: 504 })
  })

  it('stops reading an answer that is too long', async () => {
    const api = await apiThat(answering(`{"response":[]${' '.repeat(300_000)}}`))
    await expect(api.vehicles('a')).rejects.toMatchObject({ status: 502 })
  })

  it('says that it can’t be reached', async () => {
    const server = createServer()
    const { url, close } = await serve((_request, response) => response.end(), '127.0.0.1', 0)
    await close()
    await expect(createOwnerApi({ url, vehicleList: '/api/1/vehicles', tokens }).vehicles('a')).rejects.toMatchObject({
      status: 502,
    })
    server.close()
  })

  it('asks for a vehicle by its id alone', async () => {
    const asked: (string | undefined)[] = []
    const api = await apiThat((request, response) => {
      asked.push(request.url)
      response.writeHead(404).end()
    })
    for (const id of [
      '1001',
      '..',
      '.',
      '',
      '../../token?x',
      '%2e%2e',
      '1001/command',
      '1001?x',
      '1001#x',
      '1\\2',
      '１',
    ]) {
      await expect(api.vehicle('a', id)).rejects.toMatchObject({ name: 'OwnerApiError', status: 404 })
    }
    expect(asked).toEqual(['/api/1/vehicles/1001'])
  })
})
