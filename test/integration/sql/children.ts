import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startChild } from '../../bench/harness/child.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import type { Children } from '../../support/servers/children.js'
import type { Kind } from './database-kind.js'
import { childArgs } from './open-in-child.js'

export type { Children } from '../../support/servers/children.js'

const HEAP_MB = 1024

/** Where they have a table. */
export interface Place {
  readonly kind: Kind
  readonly url: string
  readonly table: string
}

/**
 * Bundles a module of this folder once for all tests of a file. Returns a function that starts so many
 * processes of it, which each have a store over the same table.
 */
export function childrenOf(module: string): (count: number, place: Place) => Children {
  let program: Bundle | undefined

  beforeAll(async () => {
    program = await bundle(join(__dirname, module))
  })

  afterAll(() => program?.remove())

  return (count, { kind, url, table }) => {
    const entry = pathToFileURL((program as Bundle).path)
    const children = Array.from({ length: count }, () =>
      startChild(entry, childArgs(kind, url, table), HEAP_MB),
    )
    return {
      ask: <Answer>(questionOf: (i: number) => object) =>
        Promise.all(children.map((child, i) => child.ask<Answer>(questionOf(i)))),
      async end() {
        await Promise.all(children.map((child) => child.end()))
      },
    }
  }
}
