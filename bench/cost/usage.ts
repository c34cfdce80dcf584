/** What Cloudflare bills, of what the edge has done. The meter counts it, see metered-worker.ts. */
export interface Usage {
  /** Requests that came to the Worker. */
  requests: number
  /** Calls of Durable Objects, and their alarms. */
  objectRequests: number
  /** For how long objects were at work for them, each counted for itself. Milliseconds. */
  objectMilliseconds: number
  objectRowsRead: number
  /** Alarms that are set are rows too. */
  objectRowsWritten: number
  /** R2: writes, parts of uploads, listings. Deleting costs nothing. */
  classA: number
  /** R2: reads. */
  classB: number
  databaseRowsRead: number
  databaseRowsWritten: number
  /** Messages sent to Queues, each 64 KB of one counted. */
  messages: number
}

export const NO_USAGE: Usage = {
  requests: 0,
  objectRequests: 0,
  objectMilliseconds: 0,
  objectRowsRead: 0,
  objectRowsWritten: 0,
  classA: 0,
  classB: 0,
  databaseRowsRead: 0,
  databaseRowsWritten: 0,
  messages: 0,
}

/** Where the metered Worker answers with its {@link Usage} so far. */
export const USAGE_PATH = '/.usage'
