import { isObject } from '../../util/values.js'

/** The newest step that each process has added to a document, so that none is added twice. */
export type AddedSteps = readonly (readonly [process: string, step: number])[]

/** The most processes that are remembered. */
const MAX_PROCESSES = 2000
/** A process that has added nothing for this many steps is forgotten: it no longer adds older ones. */
const REMEMBERED_STEPS = 600

/** Returns the steps of a process that a document does not have yet. */
export function missingSteps<Step extends { readonly step: number }>(
  added: AddedSteps,
  process: string,
  steps: readonly Step[],
): readonly Step[] {
  const last = added.find(([id]) => id === process)?.[1] ?? Number.NEGATIVE_INFINITY
  return steps.filter(({ step }) => step > last)
}

/** Returns what is remembered once a process has added a step. */
export function withAdded(added: AddedSteps, process: string, step: number): AddedSteps {
  const others = added.filter(([id, last]) => id !== process && step - last < REMEMBERED_STEPS)
  return [[process, step] as const, ...others].slice(0, MAX_PROCESSES)
}

/** Returns what is remembered in a value of a document. */
export function addedIn(value: unknown): AddedSteps {
  return Array.isArray(value) ? value.filter(isAdded) : []
}

function isAdded(value: unknown): value is readonly [string, number] {
  return isObject(value) && typeof value[0] === 'string' && Number.isInteger(value[1])
}
