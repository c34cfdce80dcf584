import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createGuardedFetch } from '../../../atproto/network/guarded-fetch.ts'
import {
  RefusedUrlError,
  ResponseTooLargeError,
  UnreachableHostError,
} from '../../../atproto/network/network-errors.ts'

let server: Server | null = null

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = null
})

async function serve(listener: RequestListener): Promise<string> {
  const started = createServer(listener)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`
}

const local = createGuardedFetch({ allowPrivateHosts: true })

/** A fetch that answers from a table, for hosts that cannot be had here. */
function answering(answers: Record<string, () => Response>) {
  const asked: [string, Headers][] = []
  const guarded = createGuardedFetch({
    fetch: async (url, init) => {
      asked.push([url, new Headers(init.headers)])
      return answers[url]!()
    },
  })
  return { guarded, asked: asked as readonly [string, Headers][] }
}

function redirect(location: string): () => Response {
  return () => new Response(null, { status: 302, headers: { location } })
}

describe('a guarded fetch', () => {
  test('refuses a private address before anything is sent', async () => {
    const { guarded, asked } = answering({})
    await expect(guarded('https://127.0.0.1/')).rejects.toThrow(RefusedUrlError)
    expect(asked).toEqual([])
  })

  test('follows redirects as far as allowed, and never to a private address', async () => {
    const { guarded, asked } = answering({
      'https://a.com/': redirect('https://b.com/x'),
      'https://b.com/x': () => new Response('here'),
      'https://evil.com/': redirect('https://169.254.169.254/latest'),
      'https://down.com/': redirect('http://a.com/'),
      'https://loop.com/': redirect('/'),
    })
    const response = await guarded('https://a.com/', {
      redirects: 1,
      headers: { authorization: 'Bearer t', accept: 'a/b' },
    })
    expect(await response.text()).toBe('here')
    expect(asked[1]![1].get('authorization')).toBe(null)
    expect(asked[1]![1].get('accept')).toBe('a/b')
    await expect(guarded('https://evil.com/', { redirects: 3 })).rejects.toThrow(RefusedUrlError)
    await expect(guarded('https://down.com/', { redirects: 3 })).rejects.toThrow(RefusedUrlError)
    await expect(guarded('https://loop.com/', { redirects: 3 })).rejects.toThrow('loop.com redirects too often')
    expect((await guarded('https://a.com/')).status).toBe(302)
    expect((await guarded('https://a.com/', { method: 'POST', body: 'x', redirects: 3 })).status).toBe(302)
  })

  test('stops a body that is too large, by what arrives and not by what is announced', async () => {
    const origin = await serve((_, response) => {
      response.write('x'.repeat(600))
      response.end('x'.repeat(600))
    })
    const response = await local(origin, { maxBytes: 1000 })
    await expect(response.text()).rejects.toThrow(ResponseTooLargeError)
    expect(await (await local(origin, { maxBytes: 1200 })).text()).toHaveLength(1200)
  })

  test('gives up on a host that does not answer, and on one that stops half-way', async () => {
    const silent = await serve(() => undefined)
    await expect(local(silent, { timeout: 50 })).rejects.toThrow(/did not answer within 0.05 s/)
    server?.closeAllConnections()
    const stalling = await serve((_, response) => void response.write('half'))
    await expect((await local(stalling, { timeout: 50 })).text()).rejects.toThrow(UnreachableHostError)
  })

  test('gives up on a host that sends a byte now and then', async () => {
    const dripping = await serve((_, response) => {
      const timer = setInterval(() => response.write('.'), 5)
      response.on('close', () => clearInterval(timer))
    })
    const response = await local(dripping, { timeout: 10_000, deadline: 60 })
    await expect(response.text()).rejects.toThrow('sends its answer too slowly')
  })

  test('says which host cannot be reached, or breaks off', async () => {
    const origin = await serve((request, response) => {
      if (request.url === '/cut') response.socket?.destroy()
      else response.write('half', () => response.socket?.destroy())
    })
    await expect(local(`${origin}/cut`)).rejects.toThrow(`${new URL(origin).host} cannot be reached`)
    await expect((await local(`${origin}/half`)).text()).rejects.toThrow('broke off its answer')
  })

  test('sends a body from a stream', async () => {
    const origin = await serve((request, response) => void request.pipe(response))
    const body = new Blob(['streamed']).stream()
    expect(await (await local(origin, { method: 'POST', body })).text()).toBe('streamed')
  })
})
