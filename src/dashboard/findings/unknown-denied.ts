import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding } from '../figures/shown.js'
import { denialText } from './denial-text.js'
import { NO_TARGETS } from './words.js'

/** Clients are denied, and the store has lost who most of them are: their processes report it again. */
export function unknownDenied(figures: FindingFigures): Finding | undefined {
  const { areClientsUnknown, deniedSinceMs, mode } = figures
  if (!areClientsUnknown || deniedSinceMs === undefined) return undefined
  const verb = mode === 'report' ? 'been over their limit' : 'been denied'
  return {
    kind: 'many-denied',
    level: 'warning',
    sentence: `Requests have ${verb} ${denialText(figures, deniedSinceMs)}; who sends them is not known yet`,
    sinceMs: deniedSinceMs,
    ...NO_TARGETS,
  }
}
