import type { Trial } from './trial.js'

/** Returns the `id` of the change of settings that is due in a phase of a trial. */
export function changeIdOf({ id, phase }: Pick<Trial, 'id' | 'phase'>): string {
  return `${id}-${phase}`
}

/** Returns whether a trial makes the change with this `id`: the given one, or any trial. */
export function isChangeOf(changeId: string, trial?: Pick<Trial, 'id'>): boolean {
  const [, id] = /^([0-9a-f]{8})-(?:starting|promoting|reverting|stopping)$/.exec(changeId) ?? []
  return id !== undefined && (trial === undefined || trial.id === id)
}
