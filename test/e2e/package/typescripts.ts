import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Checker, startChecker } from './checker.js'
import { fetchPackages } from './fetched.js'
import { ROOT, run } from './run.js'

/** A TypeScript, with the packages that a project with it has. */
export interface TypeScript {
  readonly version: string
  /** Where a package lies that fixtures see. */
  readonly folderOf: (name: string) => string
  /** Type-checks a project. Returns its errors. */
  readonly check: (project: string) => Promise<string>
}

const own = join(ROOT, 'node_modules')
const { version } = JSON.parse(readFileSync(join(own, 'typescript/package.json'), 'utf8'))

/** The version of this checkout. */
export const CURRENT = version.split('.', 2).join('.')

/** The oldest version that the types support. */
export const OLDEST = '5.4'

/** The versions before it that are tried. TYPESCRIPTS names others, such as '5.4 6.0'. */
export const OLDER: readonly string[] = (process.env.TYPESCRIPTS ?? OLDEST).split(' ')

/** The types of Express 4, and of the oldest Node.js that the package supports. */
const PACKAGES = {
  'types-express-4': 'npm:@types/express@4.17.25',
  '@types/express-serve-static-core': '4.19.9',
  '@types/node': '20.12.14',
}

const compilers = Object.fromEntries(
  [...new Set([OLDEST, ...OLDER])].map((each) => [`typescript-${each}`, `npm:typescript@~${each}.0`]),
)
let fetching: Promise<string> | undefined

/** Returns a version of TypeScript, which is fetched at most once. */
export async function typescriptOf(version: string): Promise<TypeScript> {
  fetching ??= fetchPackages('typescripts', { ...compilers, ...PACKAGES })
  const fetched = join(await fetching, 'node_modules')
  const compiler = version === CURRENT ? join(own, 'typescript') : join(fetched, `typescript-${version}`)
  const hasOldNode = /^5\.[4-6]$/.test(version) // from 5.7 on, Buffer is generic
  const packages = ['types-express-4', ...(hasOldNode ? ['@types/node'] : [])]

  return {
    version,
    folderOf: (name) => join(packages.includes(name) ? fetched : own, name),
    check: (project) => (version === CURRENT ? checkByTsc : checkInProcess)(compiler, project),
  }
}

async function checkByTsc(compiler: string, project: string): Promise<string> {
  // More than one thread takes twice the work: each resolves the same types.
  const args = [join(compiler, 'bin/tsc'), '-p', project, '--pretty', 'false', '--singleThreaded']
  const { code, stdout, stderr } = await run(process.execPath, args, project)
  if (code !== 0 && stdout === '') throw new Error(`TypeScript failed: ${stderr}`)
  return stdout
}

const checkers = new Map<string, Checker>()

/** Checks a project in the one process that checks all of a TypeScript in JavaScript. */
function checkInProcess(compiler: string, project: string): Promise<string> {
  const checker = checkers.get(compiler) ?? startChecker(compiler)
  checkers.set(compiler, checker)
  return checker.check(project)
}

/** Ends the processes that check. */
export function endCheckers(): void {
  for (const checker of checkers.values()) checker.end()
  checkers.clear()
}
