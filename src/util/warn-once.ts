import { processWide } from './process-wide.js'

const emitted = processWide('warnings', () => new Set<string>())

/** Emits a process warning with a stable code, once per process: a busy server must not fill its log. */
export function warnOnce(code: `HEADGATE_${string}`, message: string): void {
  if (emitted.has(code)) return
  emitted.add(code)
  process.emitWarning(message, { type: 'HeadgateWarning', code })
}

/** Forgets which warnings were emitted, so that a test can see one again. @internal */
export function forgetWarnings(): void {
  emitted.clear()
}
