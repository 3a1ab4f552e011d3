import type { GivenDocument } from '../../limiter/settings-document.js'
import type { LimitDemand } from '../../tuning/client-demand.js'
import { type LimitPreview, previewOf } from '../../tuning/preview/preview.js'
import { type ChangePreview, previewWithCandidate } from '../../tuning/preview/preview-change.js'
import { type PreviewModes, previewModes } from '../../tuning/preview/preview-modes.js'
import { previewRules } from '../../tuning/preview/preview-rules.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { EditedParts } from './edit.js'
import { editedDocument } from './edit.js'
import { type Effect, withOverrides } from './overrides.js'
import { requireSettings } from './settings-of.js'
import { resolveTargets, type Target } from './targets.js'

/** How long overrides last that are previewed: as long as the clients are known. */
const OVERRIDE_MS = 86_400_000

/** Previews an edit of some parts. Rejects as `settings.change` does. */
export async function previewEdit(
  watched: Watched,
  parts: EditedParts,
  demands: readonly LimitDemand[],
): Promise<ChangePreview> {
  const { before, after: document } = await editedDocument(watched, parts)
  const modes = previewModes(before, document, watched.limiter.mode)
  return previewWithCandidate(document, modes, (each, own) => previewDocument(watched, each, demands, own))
}

/** Previews an override of some clients. Rejects as `overrideTargets` does. */
export async function previewOverride(
  watched: Watched,
  given: readonly Target[],
  effect: Effect,
  demands: readonly LimitDemand[],
): Promise<ChangePreview> {
  const { name, settings } = requireSettings(watched)
  const [targets, document] = await Promise.all([resolveTargets(watched, given), settings.read(name)])
  const overridden = withOverrides(document, targets, effect, Date.now() + OVERRIDE_MS)
  const modes = previewModes(document, document, watched.limiter.mode)
  return { limits: await previewDocument(watched, overridden, demands, modes) }
}

async function previewDocument(
  { name, limiter, inspection }: Watched,
  document: GivenDocument,
  demands: readonly LimitDemand[],
  modes?: PreviewModes,
): Promise<readonly LimitPreview[]> {
  const { entries, embeddings, secret } = inspection
  const rules = await previewRules({ name: limiter.name ?? name, entries, embeddings, secret }, document)
  return previewOf(rules, demands, modes)
}
