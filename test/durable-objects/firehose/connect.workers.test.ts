import { describe, expect, it } from 'vitest'
import type { RawFrame } from '../../../atproto/firehose/decode-frame.ts'
import { listen } from '../../../durable-objects/firehose/connect.ts'

/** What a socket has told, and its other side. */
function pair() {
  const { 0: ours, 1: theirs } = new WebSocketPair()
  theirs.accept()
  const frames: RawFrame[] = []
  const ends: string[] = []
  const socket = listen(ours, { onFrame: (frame) => frames.push(frame), onEnd: (reason) => ends.push(reason) })
  return { socket, theirs, frames, ends }
}

describe('a websocket', () => {
  it('gives text as text, and bytes as bytes', async () => {
    const { theirs, frames } = pair()
    theirs.send('text')
    theirs.send(new Uint8Array([1, 2, 3]))
    await expect.poll(() => frames).toHaveLength(2)
    expect(frames[0]).toBe('text')
    expect(new Uint8Array(frames[1] as ArrayBuffer)).toEqual(new Uint8Array([1, 2, 3]))
  })

  it('tells once that it has ended', async () => {
    const { theirs, ends } = pair()
    theirs.close(1011, 'x'.repeat(100))
    await expect.poll(() => ends).toEqual([`closed with 1011: ${'x'.repeat(100)}`])
  })

  it('says nothing after it was closed here', async () => {
    const { socket, theirs, frames, ends } = pair()
    theirs.send('late')
    socket.close()
    socket.close()
    const closed = Promise.withResolvers<void>()
    theirs.addEventListener('close', () => closed.resolve())
    await closed.promise
    expect(frames).toEqual([])
    expect(ends).toEqual([])
  })
})
