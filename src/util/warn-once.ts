import { processWide } from './process-wide.js'

const emitted = processWide('warnings', () => new Set<string>())

/**
 * Emits a process warning with a stable code, once per process: a busy server must not fill its log. Logs it
 * where the platform has none, as Cloudflare Workers did before 2025-09-15.
 */
export function warnOnce(code: `HEADGATE_${string}`, message: string): void {
  if (emitted.has(code)) return
  emitted.add(code)
  const { process } = globalThis as { process?: Partial<NodeJS.Process> }
  if (process?.emitWarning) process.emitWarning(message, { type: 'HeadgateWarning', code })
  else console.warn(`[${code}] ${message}`)
}

/** Forgets which warnings were emitted, so that a test can see one again. @internal */
export function forgetWarnings(): void {
  emitted.clear()
}
