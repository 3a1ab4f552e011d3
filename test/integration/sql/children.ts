import { join } from 'node:path'
import { type Children, startChildren as startAny } from '../../support/servers/children.js'
import type { Kind } from './database-kind.js'
import { childArgs } from './open-in-child.js'

export type { Children } from '../../support/servers/children.js'

/** Where they have a table. */
export interface Place {
  readonly kind: Kind
  readonly url: string
  readonly table: string
}

/** Starts so many processes of a module of this folder, which each have a store over the same table. */
export function startChildren(module: string, count: number, { kind, url, table }: Place): Promise<Children> {
  return startAny(join(__dirname, module), count, childArgs(kind, url, table))
}
