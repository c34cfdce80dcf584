import { concatBytes } from '../../git/bytes/concat.ts'
import type { Random } from './random.ts'

/** Bytes at which parsers change their minds: ends of ranges, continuation bits, separators. */
const TELLING = [0x00, 0x01, 0x0a, 0x20, 0x2f, 0x30, 0x37, 0x7f, 0x80, 0xff]
/** Most inputs are nearly right: that is how they get far into a parser. */
const CHANGES = 4
/** Longest run of bytes that is cut out, doubled or made up. */
const RUN = 64

type Change = (bytes: Uint8Array, random: Random, donor: Uint8Array) => Uint8Array

const CHANGES_OF_BYTES: readonly Change[] = [
  (bytes, random) => at(bytes, random, (byte) => byte ^ (1 << random.below(8))),
  (bytes, random) => at(bytes, random, () => random.pick(TELLING)),
  (bytes, random) => at(bytes, random, () => random.below(256)),
  (bytes, random) => at(bytes, random, (byte) => byte + 1 - 2 * random.below(2)),
]

const CHANGES_OF_LENGTH: readonly Change[] = [
  (bytes, random) => bytes.slice(0, random.below(bytes.length + 1)),
  (bytes, random) => {
    const [start, end] = range(bytes, random)
    return concatBytes([bytes.subarray(0, start), bytes.subarray(end)])
  },
  (bytes, random) => {
    const [start, end] = range(bytes, random)
    return concatBytes([bytes.subarray(0, end), bytes.subarray(start)])
  },
  (bytes, random) => {
    const place = random.below(bytes.length + 1)
    const made = Uint8Array.from({ length: 1 + random.below(RUN) }, () => random.below(256))
    return concatBytes([bytes.subarray(0, place), made, bytes.subarray(place)])
  },
  (bytes, random, donor) => {
    const place = random.below(bytes.length + 1)
    const [start, end] = range(donor, random)
    return concatBytes([bytes.subarray(0, place), donor.subarray(start, end), bytes.subarray(place)])
  },
]

/** A changed copy. Two of three times its length stays: files with tables are refused at once for a wrong one. */
export function mutate(bytes: Uint8Array, random: Random, donor: Uint8Array = bytes): Uint8Array {
  const changes = random.below(3) === 0 ? CHANGES_OF_LENGTH : CHANGES_OF_BYTES
  let changed: Uint8Array = bytes.slice()
  for (let n = random.below(CHANGES); n >= 0; n--) changed = random.pick(changes)(changed, random, donor)
  return changed
}

function at(bytes: Uint8Array, random: Random, change: (byte: number) => number): Uint8Array {
  const place = random.below(bytes.length)
  const byte = bytes[place]
  if (byte !== undefined) bytes[place] = change(byte)
  return bytes
}

function range(bytes: Uint8Array, random: Random): [start: number, end: number] {
  const start = random.below(bytes.length + 1)
  return [start, Math.min(start + random.below(RUN), bytes.length)]
}
