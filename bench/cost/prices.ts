import type { Usage } from './usage.ts'

/** When the prices below were read, at developers.cloudflare.com (see docs/deploy.md for the pages). */
export const PRICES_READ = '2026-12-01'

/** US dollars for a million, beyond what the paid plan includes; that is not subtracted anywhere. */
const PER_MILLION = {
  request: 0.3,
  cpuMillisecond: 0.02,
  objectRequest: 0.15,
  objectGigabyteSecond: 12.5,
  classA: 4.5,
  classB: 0.36,
  /** Of a Durable Object's SQLite, and of D1. */
  rowRead: 0.001,
  rowWritten: 1,
  queueOperation: 0.4,
  logLine: 0.6,
} as const

/** US dollars for a gigabyte (10^9 bytes) and a month. */
export const STORAGE = { r2: 0.015, object: 0.2, d1: 0.75 } as const

/** What an object is billed for as long as it is awake, whatever it uses. Gigabytes. */
export const OBJECT_MEMORY = 0.128
/** A message is written, read and deleted; each 64 KB of it count. */
const OPERATIONS_A_MESSAGE = 3

/** What a thing costs that the meter has measured. */
export interface Measured extends Usage {
  /** Of the Worker, its objects, and the local runtime's R2 and D1. */
  cpuMilliseconds: number
  logLines: number
}

export interface Cost {
  readonly name: string
  /** US dollars. */
  readonly price: number
}

/** Where the money goes, the same names in the same order each time. */
export function costs(measured: Measured): Cost[] {
  const price = (name: string, millionths: number): Cost => ({ name, price: millionths / 1e6 })
  return [
    price('Workers: requests', measured.requests * PER_MILLION.request),
    price('Workers: CPU', measured.cpuMilliseconds * PER_MILLION.cpuMillisecond),
    price('objects: requests', measured.objectRequests * PER_MILLION.objectRequest),
    price('objects: duration', (measured.objectMilliseconds / 1000) * OBJECT_MEMORY * PER_MILLION.objectGigabyteSecond),
    price(
      'objects: rows',
      measured.objectRowsRead * PER_MILLION.rowRead + measured.objectRowsWritten * PER_MILLION.rowWritten,
    ),
    price('R2', measured.classA * PER_MILLION.classA + measured.classB * PER_MILLION.classB),
    price(
      'D1',
      measured.databaseRowsRead * PER_MILLION.rowRead + measured.databaseRowsWritten * PER_MILLION.rowWritten,
    ),
    price('Queues', measured.messages * OPERATIONS_A_MESSAGE * PER_MILLION.queueOperation),
    price('logs', measured.logLines * PER_MILLION.logLine),
  ]
}

/** An object that is awake all month, as one is that holds a connection. US dollars. */
export function monthAwake(): { gigabyteSeconds: number; price: number } {
  const gigabyteSeconds = 30 * 86_400 * OBJECT_MEMORY
  return { gigabyteSeconds, price: (gigabyteSeconds * PER_MILLION.objectGigabyteSecond) / 1e6 }
}
