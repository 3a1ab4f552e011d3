import type { SharedSettings } from '../../settings/shared-settings.js'
import { InputError } from '../failures.js'

/** Makes a change with its origin. Resolves once it is made. */
export type MakeChange = (settings: SharedSettings, origin: Origin) => Promise<unknown>

/** What a command line wants to change. It may be made twice: on a copy, to preview it, and on the store. */
export interface RequestedChange {
  readonly make: MakeChange
  /** Where what an operator edited is kept until it is saved. */
  readonly edited?: { readonly path: string; remove(): Promise<void> }
}

/** Who makes a change, why, and on what it is based. */
export interface Origin {
  readonly by: string
  readonly reason: string
  readonly id: string
  readonly basedOn?: string | null
}

/** Thrown by an edit that changes nothing, so that the history has no entry of it. */
export class Unchanged extends Error {}

/** Returns the `id` of the change that begins with a text; the text itself if none does, or several do. */
export async function fullId(settings: SharedSettings, limiter: string, text: string): Promise<string> {
  const ids = (await settings.changes(limiter)).map(({ id }) => id)
  const found = ids.filter((id) => id.startsWith(text))
  if (found.length > 1 && !ids.includes(text))
    throw new InputError(`several changes have an id that begins with ${text}: write more of it`)
  return ids.includes(text) ? text : (found[0] ?? text)
}
