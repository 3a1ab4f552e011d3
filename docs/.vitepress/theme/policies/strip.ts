import { type Mark, type Sample, SPAN_MS } from './lane.js'

/** The sizes of a strip, in pixels. */
export interface Size {
  readonly width: number
  /** From the left of a mark to the left of the next. */
  readonly pitch: number
  readonly rows: number
  readonly levelHeight: number
}

const GAP = 4

export const marksHeight = ({ rows, pitch }: Size) => rows * pitch
export const stripHeight = (size: Size) => marksHeight(size) + GAP + size.levelHeight

/** Returns where a moment lies, from the left. The right end is now. */
export function xOf(atMs: number, nowMs: number, { width }: Size): number {
  return width - ((nowMs - atMs) * width) / SPAN_MS
}

/**
 * Returns the paths of the marks: squares for allowed requests, and crosses for denied ones. Those of about
 * the same time are stacked. Stacks move with time, and keep their marks.
 */
export function markPaths(marks: readonly Mark[], nowMs: number, size: Size) {
  const { pitch, rows, width } = size
  const columnMs = (pitch * SPAN_MS) / width
  const side = pitch - 1.5
  const heights = new Map<number, number>()
  const paths = { allowed: '', denied: '' }
  for (const { atMs, isAllowed } of marks) {
    const column = Math.floor(atMs / columnMs)
    const row = Math.min(heights.get(column) ?? 0, rows - 1)
    heights.set(column, row + 1)
    const x = xOf(column * columnMs, nowMs, size).toFixed(1)
    const y = (marksHeight(size) - (row + 1) * pitch + 0.5).toFixed(1)
    if (isAllowed) paths.allowed += `M${x} ${y}h${side}v${side}h-${side}z`
    else paths.denied += `M${x} ${y}l${side} ${side}m0-${side}l-${side} ${side}`
  }
  return paths
}

/** Returns the outline of the level over time, up to its value now. */
export function levelPath(samples: readonly Sample[], nowMs: number, level: number, size: Size): string {
  const [first] = samples
  if (first === undefined) return ''
  const bottom = stripHeight(size)
  const points = [...samples, [nowMs, level] as const].map(
    ([ms, each]) => `L${xOf(ms, nowMs, size).toFixed(1)} ${(bottom - each * size.levelHeight).toFixed(1)}`,
  )
  return `M${xOf(first[0], nowMs, size).toFixed(1)} ${bottom}${points.join('')}V${bottom}z`
}

/** Returns lines at the ends of windows of the clock. */
export function borderPath(windowMs: number, nowMs: number, size: Size): string {
  let path = ''
  for (let ms = Math.floor(nowMs / windowMs) * windowMs; ms > nowMs - SPAN_MS; ms -= windowMs)
    path += `M${xOf(ms, nowMs, size).toFixed(1)} 0V${stripHeight(size)}`
  return path
}
