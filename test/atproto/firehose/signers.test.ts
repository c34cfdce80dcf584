import { P256PrivateKeyExportable, Secp256k1PrivateKeyExportable } from '@atcute/crypto'
import { describe, expect, it } from 'vitest'
import { Signers } from '../../../atproto/firehose/signers.ts'
import type { SigningKey } from '../../../atproto/identity/did-document.ts'

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'

async function newKey(
  kind: typeof P256PrivateKeyExportable | typeof Secp256k1PrivateKeyExportable,
): Promise<SigningKey> {
  const publicKeyMultibase = await (await kind.createKeypair()).exportPublicKey('multikey')
  return { type: 'Multikey', publicKeyMultibase }
}

/** Documents by DID, and a clock that only goes when it is told to. */
class Documents {
  now = 1_800_000_000_000
  readonly keys = new Map<string, SigningKey>()
  readonly asked: string[] = []
  isDown = false
  hang: Promise<void> | null = null
  /** How often somebody has waited. */
  waits = 0
  readonly signers = new Signers({
    readDocument: async (did) => {
      this.asked.push(did)
      await this.hang
      if (this.isDown) throw new Error('down')
      return { signingKey: this.keys.get(did) ?? null, pds: 'https://pds.test' }
    },
    now: () => this.now,
    sleep: () => {
      this.waits++
      return new Promise((resolve) => setTimeout(resolve, 20))
    },
  })
}

describe('the key of an account', () => {
  it.each([P256PrivateKeyExportable, Secp256k1PrivateKeyExportable])('is read once an hour', async (kind) => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(kind))
    const signers = await Promise.all([documents.signers.of(DID), documents.signers.of(DID)])
    expect(signers.every((signer) => signer?.key != null)).toBe(true)
    documents.now += 59 * 60_000
    await documents.signers.of(DID)
    expect(documents.asked).toHaveLength(1)
    documents.now += 60_000
    await documents.signers.of(DID)
    expect(documents.asked).toHaveLength(2)
  })

  it('is read again when the account says so', async () => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    await documents.signers.of(DID)
    documents.signers.forget(DID)
    // What was read just now may be what has changed.
    expect(await documents.signers.of(DID)).toBeNull()
    documents.now += 10_000
    expect(await documents.signers.of(DID)).toMatchObject({ key: expect.anything() })
    expect(documents.asked).toHaveLength(2)
  })

  it('is not taken from a document that was on its way when the account said that it has changed', async () => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    const { promise, resolve } = Promise.withResolvers<void>()
    documents.hang = promise
    const asked = documents.signers.of(DID)
    documents.signers.forget(DID)
    resolve()
    expect(await asked).toBeNull()
  })

  it('is read again when a signature does not fit, and not for each of many that do not', async () => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    const old = await documents.signers.of(DID)
    expect(await documents.signers.again(DID)).toBeNull()
    documents.keys.set(DID, await newKey(Secp256k1PrivateKeyExportable))
    documents.now += 10_000
    const again = await Promise.all([documents.signers.again(DID), documents.signers.again(DID)])
    expect(again[0]?.key).not.toBe(old?.key)
    expect(again[1]).toBe(again[0])
    expect(documents.asked).toHaveLength(2)
  })

  it('is not there for a minute when its document cannot be read, or is none', async () => {
    const documents = new Documents()
    documents.isDown = true
    expect(await documents.signers.of(DID)).toMatchObject({ key: null })
    documents.isDown = false
    documents.keys.set(DID, { type: 'Multikey', publicKeyMultibase: 'zNothing' })
    expect(await documents.signers.of(DID)).toMatchObject({ key: null })
    documents.now += 60_000
    expect(await documents.signers.of(DID)).toMatchObject({ key: null, pds: 'https://pds.test' })
    expect(documents.asked).toHaveLength(2)
  })

  it('is asked for more and more seldom where it cannot be read, whatever the account and its signatures say', async () => {
    const documents = new Documents()
    documents.isDown = true
    for (let second = 0; second < 3600; second++) {
      await documents.signers.of(DID)
      documents.signers.forget(DID)
      await documents.signers.again(DID)
      documents.now += 1000
    }
    // At once, then after 1, 2, 4, 8, and each 15 minutes.
    expect(documents.asked).toHaveLength(7)
    documents.isDown = false
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    documents.now += 15 * 60_000
    expect(await documents.signers.of(DID)).toMatchObject({ key: expect.anything() })
  })

  it('is not waited for when its host does not answer, and is there when it has', async () => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    const { promise, resolve } = Promise.withResolvers<void>()
    documents.hang = promise
    const many = Array.from({ length: 50 }, (_, n) => `did:web:host${n}.example.com`)
    expect(await Promise.all([DID, ...many].map((did) => documents.signers.of(did)))).toEqual(Array(51).fill(null))
    // A Worker has six connections: there are some left, and one for the directory.
    expect(documents.asked).toEqual([DID, many[0]])
    resolve()
    await expect.poll(() => documents.asked.length).toBe(51)
    expect(await documents.signers.of(DID)).toMatchObject({ key: expect.anything() })
  })

  it('of other accounts is there at once while hosts hang that frame after frame is said to come from', async () => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    const { promise, resolve } = Promise.withResolvers<void>()
    for (let frame = 0; frame < 1000; frame++) {
      documents.hang = promise
      expect(await documents.signers.of(`did:web:host${frame}.example.com`)).toBeNull()
      documents.signers.forget('did:web:host0.example.com')
      expect(await documents.signers.of('did:web:host0.example.com')).toBeNull()
      documents.hang = null
      expect(await documents.signers.of(DID)).not.toBeNull()
    }
    // For the first of them, and for the account.
    expect(documents.waits).toBe(2)
    documents.now += 60_000
    await documents.signers.of('did:web:host1.example.com')
    expect(documents.waits).toBe(3)
    // More than wait are not kept.
    resolve()
    await expect.poll(() => documents.asked.length).toBe(2 + 500)
  })

  it('of a slow host is read behind the back of who asks, until it is faster', async () => {
    const documents = new Documents()
    const slow = 'did:web:slow.example.com'
    documents.keys.set(slow, await newKey(P256PrivateKeyExportable))
    const answer = async (milliseconds: number) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      documents.hang = promise
      const signer = await documents.signers.of(slow)
      documents.now += milliseconds
      resolve()
      await new Promise((done) => setTimeout(done, 0))
      return signer
    }
    expect(await answer(9000)).toBeNull()
    expect(await documents.signers.of(slow)).toMatchObject({ key: expect.anything() })
    documents.now += 60 * 60_000
    expect(await answer(9000)).toBeNull()
    documents.now += 60 * 60_000
    expect(await answer(100)).toBeNull()
    expect(documents.waits).toBe(1)
    documents.now += 60 * 60_000
    documents.hang = null
    expect(await documents.signers.of(slow)).toMatchObject({ key: expect.anything() })
    expect(documents.waits).toBe(2)
  })
})
