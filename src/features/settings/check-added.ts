import { collectTypeError, throwProblems } from '../../options/problems.js'
import type { Steps } from '../../util/slices.js'
import type { GivenDocument, SettingsDocument, SettingsOverride } from './document.js'
import { MAX_PROBLEMS } from './read-document.js'
import { checkNetwork, checkNotEnded, checkWellFormed } from './unmatched.js'

/**
 * Throws a `TypeError` if a change adds overrides that look right, but would never apply, or apply to more
 * than they seem to. Ignores overrides of the earlier document, so that they never prevent another change. A
 * whole document, such as one from a configuration file, may have overrides that have ended.
 */
export function* addedSteps(
  { overrides = [] }: GivenDocument,
  before: SettingsDocument | undefined,
  isWhole: boolean,
): Steps<void> {
  const nowMs = Date.now()
  const problems: TypeError[] = []
  let texts: ReadonlySet<string> | undefined
  for (const [i, override] of overrides.entries()) {
    const found: TypeError[] = []
    const path = `overrides[${i}]`
    collectTypeError(found, () => {
      checkWellFormed(path, override)
      checkNetwork(path, override)
      if (!isWhole) checkNotEnded(path, override, nowMs)
    })
    yield
    if (found.length === 0) continue
    texts ??= yield* textSteps(before?.overrides ?? [])
    if (!texts.has(JSON.stringify(override))) problems.push(...found)
    if (problems.length >= MAX_PROBLEMS) break
  }
  throwProblems('settings', problems)
}

function* textSteps(overrides: readonly SettingsOverride[]): Steps<ReadonlySet<string>> {
  const texts = new Set<string>()
  for (const override of overrides) {
    texts.add(JSON.stringify(override))
    yield
  }
  return texts
}
