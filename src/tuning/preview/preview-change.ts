import type { GivenDocument } from '../../limiter/settings-document.js'
import type { LimitPreview } from './preview.js'
import type { PreviewModes } from './preview-modes.js'

/** What a change of settings would have done to the clients of each limit. */
export interface ChangePreview {
  readonly limits: readonly LimitPreview[]
  /** What its candidate would have done, if it were promoted; absent if it has none. */
  readonly candidate?: readonly LimitPreview[]
}

/** Previews a document, and the one that it becomes once its candidate is promoted, by what previews one document. */
export async function previewWithCandidate(
  document: GivenDocument,
  modes: PreviewModes,
  preview: (document: GivenDocument, modes?: PreviewModes) => Promise<readonly LimitPreview[]>,
): Promise<ChangePreview> {
  const limits = await preview(document, modes)
  const { candidate } = document
  if (candidate === undefined) return { limits }
  const promoted = { ...document, limits: { ...document.limits, ...candidate.limits } }
  return { limits, candidate: await preview(promoted) }
}
