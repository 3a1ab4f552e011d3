const INTERVAL_MS = 200

/** Shows how much has been done. */
export interface Progress {
  add(amount: number): void
  end(): void
}

/**
 * Creates a progress line on a terminal, with the text of what is done so far. On anything else nothing is
 * written.
 */
export function showProgress(out: NodeJS.WriteStream, textOf: (amount: number) => string): Progress {
  if (out.isTTY !== true) return { add: () => undefined, end: () => undefined }
  let amount = 0
  let shownAtMs = performance.now()
  return {
    add(more) {
      amount += more
      if (performance.now() - shownAtMs < INTERVAL_MS) return
      shownAtMs = performance.now()
      out.write(`\r\u001b[K${textOf(amount)}`)
    },
    end: () => void out.write('\r\u001b[K'),
  }
}

/** Returns a line such as ` 42% [########            ] 210 of 500 MB`. */
export function bytesText(bytes: number, totalBytes: number | undefined): string {
  const megabytes = Math.floor(bytes / 1e6)
  if (totalBytes === undefined || totalBytes === 0) return `${megabytes} MB read`
  return `${barText(bytes / totalBytes)} ${megabytes} of ${Math.ceil(totalBytes / 1e6)} MB`
}

/** Returns a share as a bar, such as ` 42% [########            ]`. */
export function barText(share: number): string {
  const shown = Math.min(1, share)
  const bar = '#'.repeat(Math.round(20 * shown)).padEnd(20)
  return `${String(Math.floor(100 * shown)).padStart(3)}% [${bar}]`
}
