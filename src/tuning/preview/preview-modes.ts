import type { Mode } from '../../limiter/access-rules.js'
import type { JudgedClient } from './preview-counts.js'

/** The mode in force, and the one after a change; `undefined` if it would be that of the code, which is not known. */
export interface PreviewModes {
  readonly before: Mode
  readonly after: Mode | undefined
}

export const ENFORCING: PreviewModes = { before: 'enforce', after: 'enforce' }

/** Returns the modes of a change of documents, of which each may have a mode. */
export function previewModes(
  before: { readonly mode?: Mode | undefined },
  after: { readonly mode?: Mode | undefined },
  inForce: Mode,
): PreviewModes {
  return { before: inForce, after: after.mode ?? (before.mode === undefined ? inForce : undefined) }
}

/**
 * Returns clients with what the modes let limits do to them: in report mode, nothing is denied. Where the mode stays,
 * numbers are compared as if they were enforced.
 */
export function underModes(
  clients: readonly JudgedClient[],
  { before, after }: PreviewModes,
): readonly JudgedClient[] {
  if (before === (after ?? 'enforce')) return clients
  return clients.map(({ isBound, ...client }) => ({
    ...client,
    wasDenied: before !== 'report' && client.wasDenied,
    denies: after !== 'report' && client.denies,
    ...(isBound && after !== 'report' && { isBound }),
  }))
}

/** Says what modes do to the counts. */
export function modeNotes({ before, after }: PreviewModes): readonly string[] {
  if (after === undefined)
    return ['The mode would be the one in the code again, which is not known here: it is taken as enforce.']
  return before === 'report' && after === 'report'
    ? ['In report mode, no request is denied: the counts are of clients over their limit.']
    : []
}
