import { describe, expect, test } from 'vitest'
import { refuseUrl } from '../../../atproto/network/host-refusal.ts'

describe('refuseUrl', () => {
  test.each([
    'https://localhost/',
    'https://localhost./',
    'https://pds.localhost/',
    'https://printer/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://nas.home.arpa/',
    'https://a.b.lan/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://017700000001/',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://100.127.255.255/',
    'https://169.254.169.254/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[ff02::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001::1]/',
    'https://[2001:db8::1]/',
    'https://ⓛocalhost/',
    'https://１２７.0.0.1/',
  ])('refuses %s', (url) => {
    expect(refuseUrl(new URL(url), false)).toBe('is a private address')
    expect(refuseUrl(new URL(url), true)).toBe(null)
  })

  test.each([
    'https://bsky.social/',
    'https://pds.example.com:8443/',
    'https://8.8.8.8/',
    'https://100.63.255.255/',
    'https://100.128.0.1/',
    'https://172.32.0.1/',
    'https://[2606:4700::1111]/',
    'https://[2001:4860::8888]/',
    'https://localhost.example.com/',
  ])('allows %s', (url) => {
    expect(refuseUrl(new URL(url), false)).toBe(null)
  })

  test('refuses credentials, also in local use, and anything but https, but for http in local use', () => {
    expect(refuseUrl(new URL('https://user:secret@bsky.social/'), true)).toBe('holds credentials')
    expect(refuseUrl(new URL('http://bsky.social/'), false)).toBe('is not https')
    expect(refuseUrl(new URL('http://localhost:2583/'), true)).toBe(null)
    expect(refuseUrl(new URL('ftp://bsky.social/'), true)).toBe('is not https')
    expect(refuseUrl(new URL('file:///etc/passwd'), true)).toBe('is not https')
  })
})
