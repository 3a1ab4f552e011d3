/** A document as a store holds it. */
export interface StoredDocument {
  /** Changes with the text. Two texts never have the same version, even in different stores. */
  readonly version: string
  /** Absent if the request named this version, or if there is `damage`. */
  readonly text?: string
  /**
   * What the key holds in place of a document, such as `'a value of another program'`. `replace` with this
   * version overwrites it.
   */
  readonly damage?: string
}

/** A document to read. */
export interface DocumentRequest {
  readonly key: string
  /** The version that the reader has. If the store still holds it, the text may be left out. */
  readonly version?: string | undefined
}

/**
 * Small documents, such as settings, that processes share through a store. They never expire. A text has at
 * most a million characters. If the store holds fewer bytes under a key, as memcached does with 1 MB, that
 * is the limit. Neither method waits for longer than the store's driver does. Both reject with a
 * `StoreError` if the store failed.
 */
export interface Documents {
  /** Returns the documents in the order of the requests, with `undefined` for a key without a document. */
  read(requests: readonly DocumentRequest[]): Promise<readonly (StoredDocument | undefined)[]>
  /**
   * Writes a document in one atomic step, if the stored one still has this version. If `version` is
   * `undefined`, writes only if there is no document. Resolves with whether it wrote. If it rejects, it may
   * have written.
   */
  replace(key: string, text: string, version: string | undefined): Promise<boolean>
}
