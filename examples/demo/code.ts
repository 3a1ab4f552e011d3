import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files with regions that the page shows. */
const SOURCES = ['policies.ts', 'login.ts', 'outage.ts']

const REGION = /^ *\/\/ #region (\S+)\n(.*?)^ *\/\/ #endregion$/gms
const DEMO_ONLY = /^.*\/\/ demo only\b.*\n/gm
const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\} )?from '([^.'][^']*)'$/gm

/** The store of a region that names `store`: the demo has one that it can switch off. */
const REDIS_IMPORTS = ["import { redisStore } from 'headgate/redis'", "import { Redis } from 'ioredis'"]
const REDIS_STORE = `const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const redis = new Redis(url, {
  autoResendUnfulfilledCommands: false, // else it may count twice
})
redis.on('error', ({ message }) => console.error('Redis:', message))
const store = redisStore(redis)
`

/**
 * Reads the code that the page shows from the sources of this server, so that the two cannot differ. Returns
 * each `// #region` by its name, as a program: with the imports that it uses, and a server. Lines marked
 * `// demo only` are left out.
 */
export async function readSnippets(): Promise<Record<string, string>> {
  const sources = await Promise.all(SOURCES.map((file) => readFile(join(import.meta.dirname, file), 'utf8')))
  return Object.fromEntries(sources.flatMap(snippetsOf))
}

function snippetsOf(source: string): [name: string, code: string][] {
  return Array.from(source.matchAll(REGION), ([, name = '', region = '']) => {
    return [name, programOf(dedent(region.replaceAll(DEMO_ONLY, '')), source)]
  })
}

function programOf(code: string, source: string): string {
  const needsStore = /\bstore\b/.test(code)
  const imports = new Set(["import express from 'express'", ...importsFor(code, source)])
  if (needsStore) for (const line of REDIS_IMPORTS) imports.add(line)
  const store = needsStore ? `${REDIS_STORE}\n` : ''
  return `${[...imports].join('\n')}\n\n${store}const app = express()\n${code}app.listen(8080)\n`
}

function dedent(code: string): string {
  const [indent = ''] = /^ */.exec(code) ?? []
  return code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

/** Returns the import statements of a source, reduced to the names that a piece of its code uses. */
function importsFor(code: string, source: string): string[] {
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(code)
  return Array.from(source.matchAll(IMPORT), ([, whole = '', list = '', from]) => {
    const names = list.split(',').map((name) => name.trim())
    const used = names.filter((name) => name !== '' && !name.startsWith('type ') && isUsed(name))
    const parts = [
      ...(whole && isUsed(whole) ? [whole] : []),
      ...(used.length ? [`{ ${used.join(', ')} }`] : []),
    ]
    return parts.length > 0 ? `import ${parts.join(', ')} from '${from}'` : ''
  }).filter(Boolean)
}
