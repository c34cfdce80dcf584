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
  readonly signers = new Signers({
    readDocument: async (did) => {
      this.asked.push(did)
      await this.hang
      if (this.isDown) throw new Error('down')
      return { signingKey: this.keys.get(did) ?? null, pds: 'https://pds.test' }
    },
    now: () => this.now,
    sleep: () => new Promise((resolve) => setTimeout(resolve, 20)),
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
    await documents.signers.of(DID)
    expect(documents.asked).toHaveLength(2)
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

  it('is not waited for when its host does not answer, and is there when it has', async () => {
    const documents = new Documents()
    documents.keys.set(DID, await newKey(P256PrivateKeyExportable))
    const { promise, resolve } = Promise.withResolvers<void>()
    documents.hang = promise
    const many = Array.from({ length: 50 }, (_, n) => `did:web:host${n}.example.com`)
    expect(await Promise.all([DID, ...many].map((did) => documents.signers.of(did)))).toEqual(Array(51).fill(null))
    // A Worker has six connections: there are some left.
    expect(documents.asked).toHaveLength(3)
    resolve()
    await expect.poll(() => documents.asked.length).toBe(51)
    expect(await documents.signers.of(DID)).toMatchObject({ key: expect.anything() })
  })
})
