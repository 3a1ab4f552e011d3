import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startChild } from '../../bench/harness/child.js'
import { bundle } from '../../servers/bundle.js'
import type { Kind } from './kit.js'
import { childArgs } from './open-in-child.js'

const HEAP_MB = 1024

/** Processes that each have a store over the same table. */
export interface Children {
  /** Asks each of them, and waits for all answers. */
  ask<Answer>(questionOf: (i: number) => object): Promise<Answer[]>
  /** Lets them end. */
  end(): Promise<void>
}

/** Where they have it. */
export interface Place {
  readonly kind: Kind
  readonly url: string
  readonly table: string
}

/** Starts so many processes of a module of this folder. */
export async function startChildren(
  module: string,
  count: number,
  { kind, url, table }: Place,
): Promise<Children> {
  const { path, remove } = await bundle(join(__dirname, module))
  const args = childArgs(kind, url, table)
  const children = Array.from({ length: count }, () => startChild(pathToFileURL(path), args, HEAP_MB))
  return {
    ask: <Answer>(questionOf: (i: number) => object) =>
      Promise.all(children.map((child, i) => child.ask<Answer>(questionOf(i)))),
    async end() {
      for (const child of children) child.end()
      await remove()
    },
  }
}
