import { describe, expect, it } from 'vitest'
import {
  advertiseCapabilities,
  advertiseReceivePack,
  advertiseUploadPack,
  parseService,
} from '../../../git/protocol/advertise-refs.ts'
import { type AdvertisedRef, resolveHead } from '../../../git/protocol/advertised-refs.ts'
import { parseGitProtocol } from '../../../git/protocol/protocol-version.ts'
import { oid, text, wire } from './wire.ts'

const REFS: AdvertisedRef[] = [
  { name: 'refs/heads/main', target: oid(1), peeled: null },
  { name: 'refs/heads/ünïcode', target: oid(2), peeled: null },
  { name: 'refs/tags/v1', target: oid(3), peeled: oid(1) },
]
const UPLOAD =
  'multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not deepen-relative no-progress ' +
  'include-tag multi_ack_detailed allow-tip-sha1-in-want allow-reachable-sha1-in-want no-done filter'
const IDENTITY = 'object-format=sha1 agent=skein/0.1'
const RECEIVE = 'report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options'

describe('upload-pack', () => {
  it('lists HEAD, refs and peeled tags', () => {
    const refs = { head: resolveHead(REFS, 'main'), refs: REFS }
    expect(text(advertiseUploadPack(refs, 0))).toBe(
      text(
        wire(
          '# service=git-upload-pack\n',
          null,
          `${oid(1)} HEAD\0${UPLOAD} symref=HEAD:refs/heads/main ${IDENTITY}\n`,
          `${oid(1)} refs/heads/main\n`,
          `${oid(2)} refs/heads/ünïcode\n`,
          `${oid(3)} refs/tags/v1\n`,
          `${oid(1)} refs/tags/v1^{}\n`,
          null,
        ),
      ),
    )
  })

  it('says its version in v1', () => {
    const refs = { head: resolveHead(REFS, 'main'), refs: [] }
    expect(text(advertiseUploadPack(refs, 1))).toContain('0000000eversion 1\n')
  })

  it('lists no HEAD that names a missing branch', () => {
    const refs = { head: resolveHead(REFS, 'master'), refs: REFS }
    expect(text(advertiseUploadPack(refs, 0))).toContain(`0000`)
    expect(text(advertiseUploadPack(refs, 0))).not.toContain('HEAD')
    expect(text(advertiseUploadPack(refs, 0))).toContain(`${oid(1)} refs/heads/main\0${UPLOAD} ${IDENTITY}\n`)
  })

  it('offers its capabilities without a ref too', () => {
    const refs = { head: resolveHead([], 'main'), refs: [] }
    expect(text(advertiseUploadPack(refs, 0))).toBe(
      text(wire('# service=git-upload-pack\n', null, `${oid(0)} capabilities^{}\0${UPLOAD} ${IDENTITY}\n`, null)),
    )
  })

  it('lists commands and no refs in v2', () => {
    expect(text(advertiseCapabilities())).toBe(
      text(
        wire(
          'version 2\n',
          'agent=skein/0.1\n',
          'ls-refs=unborn\n',
          'fetch=shallow wait-for-done filter ref-in-want sideband-all\n',
          'server-option\n',
          'object-format=sha1\n',
          'object-info\n',
          null,
        ),
      ),
    )
  })

  it('hands 20,000 refs on in large chunks', () => {
    const refs = Array.from({ length: 20_000 }, (_, i) => ({ name: `refs/tags/${i}`, target: oid(1), peeled: oid(2) }))
    const chunks = [...advertiseUploadPack({ head: resolveHead(refs, 'main'), refs }, 0)]
    for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBeGreaterThanOrEqual(32 * 1024)
  })
})

describe('receive-pack', () => {
  it('lists neither HEAD nor peeled tags', () => {
    expect(text(advertiseReceivePack({ head: resolveHead(REFS, 'main'), refs: REFS }))).toBe(
      text(
        wire(
          '# service=git-receive-pack\n',
          null,
          `${oid(1)} refs/heads/main\0${RECEIVE} ${IDENTITY}\n`,
          `${oid(2)} refs/heads/ünïcode\n`,
          `${oid(3)} refs/tags/v1\n`,
          null,
        ),
      ),
    )
  })

  it('offers its capabilities without a ref too', () => {
    expect(text(advertiseReceivePack({ head: resolveHead([], 'main'), refs: [] }))).toContain(
      `${oid(0)} capabilities^{}\0${RECEIVE}`,
    )
  })
})

it.each([
  [null, 0],
  ['', 0],
  ['version=1', 1],
  ['version=2', 2],
  ['version=2:key=value', 2],
  ['key:version=1:version=2', 2],
  ['version=2:version=1', 2],
  ['version=3', 0],
  ['version=', 0],
  ['version=2 ', 0],
])('reads Git-Protocol %j as version %i', (header, version) => {
  expect(parseGitProtocol(header)).toBe(version)
})

it('knows two services', () => {
  expect(parseService('git-upload-pack')).toBe('git-upload-pack')
  expect(parseService('git-receive-pack')).toBe('git-receive-pack')
  expect(parseService('git-upload-archive')).toBeNull()
  expect(parseService(null)).toBeNull()
})
