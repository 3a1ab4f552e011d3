import { deniedShareOf, SEVERE_SHARE } from '../figures/denied-share.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding } from '../figures/shown.js'
import { denialText } from './denial-text.js'
import { NO_TARGETS } from './words.js'

/** An overload guard denies what there is no place for, whoever sent it: no client is at a limit. */
export function overloaded(figures: FindingFigures): Finding | undefined {
  const { isOverloadGuard, deniedSinceMs, mode, allowedPerSecond, deniedPerSecond, routes } = figures
  if (!isOverloadGuard || deniedSinceMs === undefined) return undefined
  const isSevere = mode !== 'report' && deniedShareOf(allowedPerSecond, deniedPerSecond) >= SEVERE_SHARE
  const verb = mode === 'report' ? 'would have found' : 'have found'
  return {
    ...NO_TARGETS,
    kind: 'overload',
    level: isSevere ? 'critical' : 'warning',
    sentence: `Requests ${verb} no place ${denialText(figures, deniedSinceMs)}`,
    sinceMs: deniedSinceMs,
    routes: routes.map(({ route }) => route),
  }
}
