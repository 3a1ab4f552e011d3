/** Units by the slice of time in which they count, and the newest slice that has been written. */
export interface Slices {
  readonly head: number
  readonly units: ReadonlyMap<number, number>
}

export const NO_SLICES: Slices = { head: Number.NEGATIVE_INFINITY, units: new Map() }

/** Returns the slice of a moment, counted from the Unix epoch, with `perSpan` slices in `spanMs`. */
export function sliceOf(atMs: number, spanMs: number, perSpan: number): number {
  return Math.floor((Math.floor(atMs) * perSpan) / spanMs)
}

/** Returns the units of one slice. */
export function unitsOf({ units }: Slices, slice: number): number {
  return units.get(slice) ?? 0
}

/** Returns the slices with `change` more units in one of them, and with `head` as the newest. */
export function withUnits(slices: Slices, slice: number, change: number): Slices {
  const units = new Map(slices.units)
  units.set(slice, unitsOf(slices, slice) + change)
  return { head: slices.head, units }
}

/** Returns the slices with `head` as the newest, without those that are more than `older` before it. */
export function withHead({ units }: Slices, head: number, older: number): Slices {
  return { head, units: new Map([...units].filter(([slice]) => slice >= head - older && slice <= head)) }
}

/** Returns the slices, all moved back together where the newest one is after `latest`. */
export function movedBackTo(slices: Slices, latest: number): Slices {
  if (slices.head <= latest) return slices
  const by = slices.head - latest
  return { head: latest, units: new Map([...slices.units].map(([slice, units]) => [slice - by, units])) }
}
