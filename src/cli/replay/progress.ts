const INTERVAL_MS = 200

/** Shows how much has been read. */
export interface Progress {
  add(bytes: number): void
  end(): void
}

/**
 * Creates a progress line on a terminal. On anything else nothing is written. `totalBytes` may be unknown.
 */
export function showProgress(out: NodeJS.WriteStream, totalBytes: number | undefined): Progress {
  if (out.isTTY !== true) return { add: () => undefined, end: () => undefined }
  let bytes = 0
  let shownAtMs = performance.now()
  return {
    add(more) {
      bytes += more
      if (performance.now() - shownAtMs < INTERVAL_MS) return
      shownAtMs = performance.now()
      out.write(`\r\u001b[K${progressText(bytes, totalBytes)}`)
    },
    end: () => void out.write('\r\u001b[K'),
  }
}

/** Returns a line such as ` 42 % [########            ] 210 of 500 MB`. */
export function progressText(bytes: number, totalBytes: number | undefined): string {
  const megabytes = Math.floor(bytes / 1e6)
  if (totalBytes === undefined || totalBytes === 0) return `${megabytes} MB read`
  const share = Math.min(1, bytes / totalBytes)
  const bar = '#'.repeat(Math.round(20 * share)).padEnd(20)
  const percent = String(Math.floor(100 * share)).padStart(3)
  return `${percent} % [${bar}] ${megabytes} of ${Math.ceil(totalBytes / 1e6)} MB`
}
