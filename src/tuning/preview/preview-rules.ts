import type { Embedding } from '../../keys/embedded-ipv4.js'
import type { Entry, GivenPolicy } from '../../limiter/read-limits.js'
import type { GivenDocument } from '../../limiter/settings-document.js'
import { documentSteps } from '../../settings/read-document.js'
import { limitName, ruleMaker } from '../../settings/rules.js'
import { inSlices } from '../../util/slices.js'
import { type FoundOverride, overrideFinder } from './client-overrides.js'

/** A limiter whose rules are previewed. */
export interface PreviewedLimiter {
  readonly name: string
  /** The limits that apply where a document has no others. */
  readonly entries: readonly Entry[]
  readonly embeddings: readonly Embedding[]
  readonly secret: string | undefined
}

/** The rules of a document, as far as they can be applied to clients that are known by their stored identity. */
export interface PreviewRules {
  readonly limits: readonly {
    readonly name: string
    readonly policy: GivenPolicy
    /** Whether the document has other numbers than the code. */
    readonly isChanged: boolean
  }[]
  overrideOf(identity: string): FoundOverride
  /** Which parts of the document do not fit the limiter, in sentences. */
  readonly notes: readonly string[]
}

/**
 * Makes the rules of a document, as a limiter that applies it does. Rejects with a `TypeError` for a document that is
 * not valid.
 */
export async function previewRules(
  { name, entries, embeddings, secret }: PreviewedLimiter,
  given: GivenDocument,
): Promise<PreviewRules> {
  const document = await inSlices(documentSteps(given, Date.now()))
  const makeRules = ruleMaker({ entries, name, embeddings, onUnfit: () => undefined })
  const rules = await inSlices(makeRules(document))
  return {
    limits: rules.entries.map((entry, i) => ({
      name: limitName(entry, name),
      policy: entry.policy,
      isChanged: entry.policy !== entries[i]?.policy,
    })),
    overrideOf: overrideFinder(rules.overrides, document.overrides, secret),
    notes: rules.misfits.map(({ problem }) => `Left out: ${problem}`),
  }
}
