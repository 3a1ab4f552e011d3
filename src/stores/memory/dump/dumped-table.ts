import type { Step } from '../../../policies/policy.js'
import type { StoredDocument } from '../../documents.js'
import type { ChargeResult, Part } from '../../operation.js'
import { StoreError } from '../../store-error.js'
import { StateTable } from '../state-table.js'

const RETRY_MS = 1000

/** The denial of every charge. A second later, the client may reach the next process. */
const DENIAL: Step = {
  allowed: false,
  remaining: 0,
  resetAfterMs: RETRY_MS,
  retryAfterMs: RETRY_MS,
  moreAfterMs: RETRY_MS,
}

/**
 * Takes the place of the states that were dumped. It denies every charge, because the dump would not contain
 * it. All other operations fail, because a ban or a refund would be lost.
 */
export class DumpedTable extends StateTable {
  override take(): Step {
    return DENIAL
  }

  override takeHashed(): Step {
    return DENIAL
  }

  override takeTogether(parts: readonly Part[], nowMs: number): ChargeResult {
    return { type: 'charge', allowed: false, atMs: nowMs, parts: parts.map(() => DENIAL) }
  }

  override read(): never {
    throw dumpedError()
  }

  override forget(): void {
    this.read()
  }
}

/** Takes the place of the documents that were dumped. They can be read, but not changed. */
export class DumpedDocuments extends Map<string, StoredDocument> {
  constructor(documents: ReadonlyMap<string, StoredDocument>) {
    super()
    for (const [key, document] of documents) super.set(key, document)
  }

  override set(): never {
    throw dumpedError()
  }
}

/** Returns the error of a change that would be missing from the dump. */
function dumpedError(): StoreError {
  return new StoreError('memory', 'the store has been dumped, so nothing can change', { replied: true })
}
