import type { UploadProgress } from '../packs/pack-upload.ts'

export interface DownloadProgress extends UploadProgress {
  /** The CID that the last part's last blob would have if it ended with the part; '' where there is no part. */
  readonly name: string
}

/** `complete`: all of the pack is in R2. */
export type DownloadState = DownloadProgress | 'complete'

/**
 * How far packs have come on their way from the account into R2, so that whoever goes on with one does not begin again.
 * A part of `MirrorStore`, which makes the tables.
 */
export class PackDownloads {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
  }

  /** Null: nothing of it has been kept. */
  state(pack: string): DownloadState | null {
    const [row] = this.#sql
      .exec<{ upload: string | null }>('select upload from downloads where pack = ?', pack)
      .toArray()
    if (row === undefined) return null
    if (row.upload === null) return 'complete'
    const parts = this.#sql
      .exec<{ number: number; etag: string; name: string }>(
        'select number, etag, name from download_parts where pack = ? order by number',
        pack,
      )
      .toArray()
    return {
      uploadId: row.upload,
      parts: parts.map(({ number, etag }) => ({ partNumber: number, etag })),
      name: parts.at(-1)?.name ?? '',
    }
  }

  begin(pack: string, uploadId: string): void {
    this.#storage.transactionSync(() => {
      this.forget(pack)
      this.#sql.exec('insert into downloads values (?, ?)', pack, uploadId)
    })
  }

  /** @param name see `DownloadProgress` */
  addPart(pack: string, { partNumber, etag }: R2UploadedPart, name: string): void {
    this.#sql.exec('insert or replace into download_parts values (?, ?, ?, ?)', pack, partNumber, etag, name)
  }

  /** Forgets all parts but so many, from the first one on. */
  keepParts(pack: string, count: number): void {
    this.#sql.exec('delete from download_parts where pack = ? and number > ?', pack, count)
  }

  complete(pack: string): void {
    this.#storage.transactionSync(() => {
      this.forget(pack)
      this.#sql.exec('insert into downloads values (?, null)', pack)
    })
  }

  forget(pack: string): void {
    this.#sql.exec('delete from downloads where pack = ?', pack)
    this.#sql.exec('delete from download_parts where pack = ?', pack)
  }
}
