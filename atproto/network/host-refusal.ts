/**
 * Which hosts strangers may send us to. DID documents, handles and records name hosts; without this check any of them
 * could make the edge ask its own network. Names are judged as they stand: a public name that resolves to a private
 * address is for the platform to refuse (a Worker cannot look names up, and Cloudflare does not route to such addresses).
 */

/** Names that never mean a public host: RFC 6761, 6762, 8375, and what networks use inside. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'private',
  'arpa',
  'test',
  'example',
  'invalid',
  'alt',
  'onion',
]

/** IPv4 blocks that are not public, as [first address, prefix length]: RFC 6890 and 5737, multicast, and class E. */
const PRIVATE_IPV4_BLOCKS: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, and the metadata services of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * Why a URL must not be fetched, or null if it may be. The URL parser has already turned every spelling of an IPv4
 * address (`0x7f.1`, `2130706433`) into the dotted one.
 *
 * @param allowPrivateHosts for local use: plain http and any host are allowed
 */
export function refuseUrl(url: URL, allowPrivateHosts: boolean): string | null {
  if (url.username !== '' || url.password !== '') return 'holds credentials'
  if (url.protocol !== 'https:' && !(allowPrivateHosts && url.protocol === 'http:')) return 'is not https'
  if (allowPrivateHosts || !isPrivateHost(url.hostname)) return null
  return 'is a private address'
}

/** @param hostname as `URL.hostname` gives it: lower case, IPv6 in brackets */
export function isPrivateHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPrivateIpv6(hostname.slice(1, -1))
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  if (/^[0-9.]+$/.test(name)) return isPrivateIpv4(name)
  const labels = name.split('.')
  // A single label is resolved by search lists, never by the public DNS.
  return labels.length < 2 || labels.includes('') || PRIVATE_SUFFIXES.includes(labels.at(-1)!)
}

function isPrivateIpv4(address: string): boolean {
  const value = ipv4Value(address)
  return PRIVATE_IPV4_BLOCKS.some(([first, bits]) => {
    const block = 2 ** (32 - bits)
    return Math.floor(value / block) === Math.floor(ipv4Value(first) / block)
  })
}

function ipv4Value(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}

/**
 * Only global unicast (2000::/3) is public, less what is set aside in it. That refuses loopback, link-local, unique
 * local and multicast addresses, and every form that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo).
 */
function isPrivateIpv6(address: string): boolean {
  const [first = 0, second = 0] = ipv6Groups(address)
  if (first < 0x2000 || first > 0x3fff) return true
  const protocolBlock = first === 0x2001 && second < 0x0200 // 2001::/23: Teredo, ORCHID and the like
  const documentation = (first === 0x2001 && second === 0x0db8) || (first === 0x3fff && second < 0x1000)
  const sixToFour = first === 0x2002
  return protocolBlock || documentation || sixToFour
}

/** The first groups of a normalised address, up to its `::`, which stands for zeros. */
function ipv6Groups(address: string): number[] {
  const head = address.split('::')[0]!
  return head === '' ? [] : head.split(':').map((group) => Number.parseInt(group, 16))
}
