import { expect, it } from 'vitest'
import { PART_BYTES, PackUpload } from '../../../storage/packs/pack-upload.ts'

const MEBIBYTE = 1024 * 1024
const KEY = 'packs/did/rkey/upload.pack'

/** No two blocks of it are the same. */
function content(length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i, 2_654_435_761) ^ (i >>> 7)
  return new Uint8Array(words.buffer, 0, length)
}

/** A bucket that looks at what it is given only when `arrive` is called, and waits for that. */
class SlowBucket {
  readonly parts: Uint8Array[] = []
  object: Uint8Array | null = null
  isAborted = false
  #arriving: (() => void)[] = []

  /** Everything on its way arrives. */
  arrive(): void {
    for (const arrive of this.#arriving.splice(0)) arrive()
  }

  get bucket(): R2Bucket {
    const upload = {
      uploadId: 'upload',
      uploadPart: async (partNumber: number, bytes: Uint8Array) => {
        await this.#arrival()
        this.parts[partNumber - 1] = Uint8Array.from(bytes)
        return { partNumber, etag: '' }
      },
      complete: async () => {
        this.object = Buffer.concat(this.parts)
      },
      abort: async () => {
        this.isAborted = true
      },
    }
    return {
      createMultipartUpload: async () => upload,
      put: async (_: string, bytes: Uint8Array) => {
        await this.#arrival()
        this.object = Uint8Array.from(bytes)
      },
      get: async (_: string, { range }: { range: { offset: number; length: number } }) => ({
        arrayBuffer: async () =>
          Uint8Array.from(this.object!.subarray(range.offset, range.offset + range.length)).buffer,
      }),
    } as unknown as R2Bucket
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => this.#arriving.push(resolve))
  }
}

interface Upload {
  readonly length: number
  readonly isReadBack: boolean
  /** After how many bytes of the next part the one before arrives. */
  readonly delay: number
}

/** Writes in chunks of 50,000 bytes, all through one buffer. */
async function write(upload: PackUpload, slow: SlowBucket, bytes: Uint8Array, delay: number): Promise<number> {
  const chunk = new Uint8Array(50_000)
  let held = 0
  for (let at = 0; at < bytes.length; at += chunk.length) {
    const part = bytes.subarray(at, at + chunk.length)
    chunk.set(part)
    const written = upload.write(chunk.subarray(0, part.length))
    if (at % PART_BYTES >= delay) slow.arrive()
    await settle(slow, written)
    held = Math.max(held, upload.heldBytes)
  }
  return held
}

/** Lets what has arrived be noted. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Lets arrive what `work` waits for, and no more. */
async function settle<T>(slow: SlowBucket, work: Promise<T>): Promise<T> {
  let isSettled = false
  const watched = work.finally(() => {
    isSettled = true
  })
  await turn()
  while (!isSettled) {
    slow.arrive()
    await turn()
  }
  return watched
}

function uploads(): Upload[] {
  const lengths = [1, 100_000, PART_BYTES, 3 * PART_BYTES, 3 * PART_BYTES + 1, 6 * PART_BYTES + 100]
  return lengths.flatMap((length) =>
    [true, false].flatMap((isReadBack) => [0, 200_000, 5 * MEBIBYTE].map((delay) => ({ length, isReadBack, delay }))),
  )
}

it.each(uploads())(
  'puts $length bytes into R2 and reads them: read back $isReadBack, parts late by $delay',
  async (upload) => {
    const bytes = content(upload.length)
    const slow = new SlowBucket()
    const pack = new PackUpload(slow.bucket, KEY, { isReadBack: upload.isReadBack })
    const held = await write(pack, slow, bytes, upload.delay)
    const { range, stored } = await settle(slow, pack.finish())
    const early = await range.read(Math.max(0, bytes.length - 70_000), Math.min(bytes.length, 70_000))
    expect(Buffer.compare(early, bytes.subarray(-70_000))).toBe(0)
    await settle(slow, stored)
    expect(Buffer.compare(slow.object!, bytes)).toBe(0)
    expect(Buffer.compare(await range.read(0, bytes.length), bytes)).toBe(0)
    expect(held).toBeLessThanOrEqual((upload.isReadBack ? 4 : 2) * PART_BYTES)
  },
)

it('lets the parts that it keeps go, but not the one on its way', async () => {
  const bytes = content(3 * PART_BYTES)
  const slow = new SlowBucket()
  const pack = new PackUpload(slow.bucket, KEY)
  await write(pack, slow, bytes.subarray(0, PART_BYTES), 0)
  await settle(slow, pack.write(bytes.subarray(PART_BYTES, 2 * PART_BYTES)))
  pack.letGo()
  await pack.write(bytes.subarray(2 * PART_BYTES, 3 * PART_BYTES - 10))
  expect(pack.heldBytes).toBeLessThanOrEqual(2 * PART_BYTES)
  await settle(slow, pack.write(bytes.subarray(3 * PART_BYTES - 10)))
  await settle(slow, pack.complete())
  expect(Buffer.compare(slow.object!, bytes)).toBe(0)
})

it('holds two parts at most of a large pack once it keeps none', async () => {
  const bytes = content(6 * PART_BYTES)
  const slow = new SlowBucket()
  const pack = new PackUpload(slow.bucket, KEY)
  await write(pack, slow, bytes.subarray(0, 4 * PART_BYTES), MEBIBYTE)
  expect(await write(pack, slow, bytes.subarray(4 * PART_BYTES), MEBIBYTE)).toBeLessThanOrEqual(2 * PART_BYTES)
  await settle(slow, pack.complete())
  expect(pack.heldBytes).toBe(0)
  await pack.abort()
  expect(slow.isAborted).toBe(false)
})
