import type { LogInput } from './log-input.js'

/**
 * Reads logs side by side, always the one that is furthest behind, so that requests come nearly in order.
 * `onBehind` gets the time that all of them have reached, and at last `Infinity`.
 */
export async function readSideBySide(
  inputs: readonly LogInput[],
  onBehind: (timeMs: number) => void,
): Promise<void> {
  const open = new Set(inputs)
  try {
    while (open.size > 0) {
      const behind = [...open].reduce((a, b) => (b.file.newestMs < a.file.newestMs ? b : a))
      if (!(await behind.readChunk())) open.delete(behind)
      if (open.size > 0) onBehind(Math.min(...[...open].map(({ file }) => file.newestMs)))
    }
    endAll(inputs)
    onBehind(Number.POSITIVE_INFINITY)
  } finally {
    for (const input of inputs) await input.close()
  }
}

/** Ends logs that are read, first those with a single request. */
function endAll(inputs: readonly LogInput[]): void {
  const isSingle = ({ file }: LogInput) => file.newestMs === Number.NEGATIVE_INFINITY
  for (const input of inputs.filter(isSingle)) input.end(Number.NEGATIVE_INFINITY)
  const newestMs = Math.max(...inputs.map(({ file }) => file.newestMs))
  for (const input of inputs) input.end(newestMs)
}
