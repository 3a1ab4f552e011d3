import { emitWarning } from '../platform.js'
import type { WarningCode } from './codes.js'
import { escapeUnprintable } from './printable.js'
import { processWide } from './process-wide.js'

/** The page with a heading for each code. */
const PAGE = 'https://headgate.github.io/headgate/troubleshooting'

const emitted = processWide('warnings', () => new Set<string>())

/**
 * Emits a process warning with a stable code, once per process, because a busy server must not fill its log.
 * With `about`, such as the name of a limiter, emits it once for each `about`. Returns false if it was
 * emitted before.
 *
 * The message may contain a client's text, such as that of an error that its request caused, so it is
 * printed on one line. Its last sentence is the URL of the page that explains the code.
 */
export function warnOnce(code: WarningCode, message: string, about = ''): boolean {
  const id = `${code} ${about}`
  if (emitted.has(id)) return false
  emitted.add(id)
  emitWarning(`${escapeUnprintable(message)} See ${PAGE}#${code.toLowerCase()}`, code)
  return true
}

/** Forgets which warnings were emitted, so that a test can see one again. @internal */
export function forgetWarnings(): void {
  emitted.clear()
}
