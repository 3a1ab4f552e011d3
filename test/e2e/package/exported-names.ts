import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './run.js'

/** What an entry exports: functions, classes and constants, and types. Both lists are sorted. */
export interface ExportedNames {
  readonly values: readonly string[]
  readonly types: readonly string[]
  /** Whether the entry also exports all of `headgate/http`, except for names that it replaces. */
  readonly includesHttp: boolean
}

/** `export { a, type B as C } from './d.js'`, and without `from`. */
const LIST = /^export (type )?\{([^}]*)\}(?: from '(.+)\.js')?/gm
const EVERYTHING = /^export (?:type )?\* from '(.+)\.js'$/gm
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(const|function\*?|class|interface|type) (\w+)/gm

/** Returns the names that an entry exports, by the `export` statements of its source. */
export function exportedNames(entry: string): ExportedNames {
  return namesIn(join(ROOT, 'src', `${entry}.ts`))
}

/** Returns the doc comment of a value that an entry exports; `''` if it has none. */
export function docCommentOf(entry: string, name: string): string {
  return commentIn(join(ROOT, 'src', `${entry}.ts`), name) ?? ''
}

/** Returns the doc comment of a name, from the file that declares it; `undefined` if a file does not have it. */
function commentIn(path: string, name: string): string | undefined {
  const source = readFileSync(path, 'utf8')
  for (const { 0: declaration, index } of source.matchAll(DECLARATION)) {
    if (!declaration.endsWith(` ${name}`)) continue
    const before = source.slice(0, index).trimEnd()
    return before.endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : undefined
  }
  for (const [, , list = '', module = ''] of source.matchAll(LIST)) {
    const item = list.split(',').find((each) => each.trim().split(' ').at(-1) === name)
    const local = item?.trim().replace(/ as .*/, '')
    if (local !== undefined) return commentIn(join(dirname(path), `${module}.ts`), local)
  }
  return undefined
}

function namesIn(path: string): ExportedNames {
  const source = readFileSync(path, 'utf8')
  const values: string[] = []
  const types: string[] = []
  let includesHttp = false
  for (const [, isTypes, list = ''] of source.matchAll(LIST)) {
    for (const each of list.split(',').map((item) => item.trim())) {
      if (each === '') continue
      const name = each.split(' ').at(-1) as string
      const kind = isTypes !== undefined || each.startsWith('type ') ? types : values
      kind.push(name)
    }
  }
  for (const [, kind = '', name = ''] of source.matchAll(DECLARATION)) {
    const list = kind === 'interface' || kind === 'type' ? types : values
    list.push(name)
  }
  for (const [, module = ''] of source.matchAll(EVERYTHING)) {
    if (module === './http') {
      includesHttp = true
      continue
    }
    const inner = namesIn(join(dirname(path), `${module}.ts`))
    values.push(...inner.values)
    types.push(...inner.types)
  }
  return { values: sorted(values), types: sorted(types), includesHttp }
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
