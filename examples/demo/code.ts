import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files with regions that the page shows. */
const SOURCES = ['policies.ts', 'login.ts', 'outage.ts']

const REGION = /^ *\/\/ #region (\S+)\n(.*?)^ *\/\/ #endregion$/gms
const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\} )?from '([^.'][^']*)'$/gm

/**
 * Reads the code that the page shows from the sources of this server, so that the two cannot differ. Returns
 * each `// #region` by its name, with the imports of packages that it uses.
 */
export async function readSnippets(): Promise<Record<string, string>> {
  const sources = await Promise.all(SOURCES.map((file) => readFile(join(import.meta.dirname, file), 'utf8')))
  return Object.fromEntries(sources.flatMap(snippetsOf))
}

function snippetsOf(source: string): [name: string, code: string][] {
  return Array.from(source.matchAll(REGION), ([, name = '', region = '']) => {
    const code = dedent(region).trimEnd()
    return [name, `${importsFor(code, source)}\n\n${code}\n`]
  })
}

function dedent(code: string): string {
  const [indent = ''] = /^ */.exec(code) ?? []
  return code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

/** Returns the import statements of a source, reduced to the names that a piece of its code uses. */
function importsFor(code: string, source: string): string {
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(code)
  return Array.from(source.matchAll(IMPORT), ([, whole = '', list = '', from]) => {
    const names = list.split(',').map((name) => name.trim())
    const used = names.filter((name) => name !== '' && !name.startsWith('type ') && isUsed(name))
    const parts = [
      ...(whole && isUsed(whole) ? [whole] : []),
      ...(used.length ? [`{ ${used.join(', ')} }`] : []),
    ]
    return parts.length > 0 ? `import ${parts.join(', ')} from '${from}'` : ''
  })
    .filter(Boolean)
    .join('\n')
}
