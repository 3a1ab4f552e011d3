import { processWide } from './process-wide.js'

const emitted = processWide('warnings', () => new Set<string>())

/**
 * Emits a process warning with a stable code, once per process: a busy server must not fill its log. Logs it
 * on Cloudflare Workers, which print no warnings, and where there are none.
 */
export function warnOnce(code: `HEADGATE_${string}`, message: string): void {
  if (emitted.has(code)) return
  emitted.add(code)
  const { process, navigator } = globalThis as Platform
  process?.emitWarning?.(message, { type: 'HeadgateWarning', code })
  const isPrinted = process?.emitWarning && navigator?.userAgent !== 'Cloudflare-Workers'
  if (!isPrinted) console.warn(`[${code}] ${message}`)
}

/** What not every platform has. */
interface Platform {
  readonly process?: Partial<Pick<NodeJS.Process, 'emitWarning'>>
  readonly navigator?: { readonly userAgent?: string }
}

/** Forgets which warnings were emitted, so that a test can see one again. @internal */
export function forgetWarnings(): void {
  emitted.clear()
}
