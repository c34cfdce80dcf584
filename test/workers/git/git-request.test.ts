import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { requestBody, requireContentType } from '../../../workers/git/git-request.ts'
import { HttpError } from '../../../workers/http/http-error.ts'

function post(body: Uint8Array | null, headers: Record<string, string> = {}): Request {
  return new Request('https://edge.test/', { method: 'POST', body: body && new Uint8Array(body), headers })
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

async function statusOf(run: () => Promise<unknown>): Promise<number | null> {
  const error = await run().then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error instanceof HttpError ? error.status : null
}

const words = Buffer.from('0032want …')

test.each([
  ['as it is', words, {}],
  ['with an encoding that changes nothing', words, { 'Content-Encoding': 'identity' }],
  ['as gzip', gzipSync(words), { 'Content-Encoding': 'gzip' }],
  ['as gzip by its old name, in capitals', gzipSync(words), { 'Content-Encoding': 'X-GZIP' }],
])('a body %s is read', async (_, body, headers) => {
  expect(await textOf(requestBody(post(body, headers)))).toBe(words.toString())
})

test('no body is an empty one', async () => {
  expect(await textOf(requestBody(post(null)))).toBe('')
})

test('a body that is not what it says is a 400, an unknown encoding a 415', async () => {
  expect(await statusOf(() => textOf(requestBody(post(words, { 'Content-Encoding': 'gzip' }))))).toBe(400)
  expect(await statusOf(async () => requestBody(post(words, { 'Content-Encoding': 'br' })))).toBe(415)
})

test('a gzip body that is cut off is a 400', async () => {
  const cut = gzipSync(Buffer.alloc(100_000, 'x')).subarray(0, 60)
  expect(await statusOf(() => textOf(requestBody(post(cut, { 'Content-Encoding': 'gzip' }))))).toBe(400)
})

test('the content type must be the expected one; its parameters and case do not matter', async () => {
  const type = 'application/x-git-upload-pack-request'
  const check = (headers: Record<string, string>) => async () => requireContentType(post(words, headers), type)
  expect(await statusOf(check({ 'Content-Type': `${type.toUpperCase()}; charset=utf-8` }))).toBe(null)
  expect(await statusOf(check({ 'Content-Type': 'text/plain' }))).toBe(415)
  expect(await statusOf(check({}))).toBe(415)
})
