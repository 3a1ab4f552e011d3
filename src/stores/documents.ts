/** What a store holds under the key of a document. */
export interface StoredDocument {
  /** Changes with the text. Two texts never have the same version, also in two stores. */
  readonly version: string
  /** Absent if the reader said that it has this version. */
  readonly text?: string
}

/** A document to read. */
export interface DocumentRequest {
  readonly key: string
  /** The version that the reader has. If the store still holds it, the text may be left out. */
  readonly version?: string | undefined
}

/**
 * Small documents that the processes of a store share, such as settings. They never expire. A text has at
 * most a million characters, or as many bytes as the store keeps under a key: memcached takes 1 MB. Neither
 * method waits for longer than the store's driver does, and both reject with a `StoreError` if the store
 * failed.
 */
export interface Documents {
  /** Returns what the store holds, in the order of the requests: `undefined` for a key without a document. */
  read(requests: readonly DocumentRequest[]): Promise<readonly (StoredDocument | undefined)[]>
  /**
   * Writes a document if it still has the version that was read, or, if that is `undefined`, if there is
   * none. Does so in one atomic step. Returns whether it wrote. If it rejects, it may have written.
   */
  replace(key: string, text: string, version: string | undefined): Promise<boolean>
}
