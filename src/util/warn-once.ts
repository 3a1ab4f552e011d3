const told = new Set<string>()

/**
 * Tells the operator something once per process, as a Node.js process warning with a stable code
 * (`process.on('warning', (w) => w.code)`), so that a busy server does not fill its log.
 */
export function warnOnce(code: `HEADGATE_${string}`, message: string): void {
  if (told.has(code)) return
  told.add(code)
  process.emitWarning(message, { type: 'HeadgateWarning', code })
}

/** Forgets what was told, so that a test can see a warning again. @internal */
export function forgetWarnings(): void {
  told.clear()
}
