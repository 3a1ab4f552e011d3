import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Case, testTogether } from '../../support/servers/together.js'
import { FIXTURES, MISTAKEN, MISTAKES, type TypeProject, writeProject } from './type-projects.js'
import { CURRENT, endCheckers, type TypeScript, typescriptOf } from './typescripts.js'

/** A version of TypeScript, and the projects that it checks. */
export type Checked = readonly [version: string, projects: readonly TypeProject[]]

/** Has TypeScript check the types of the packed package in the projects that it may meet. */
export function checkTypes(tarball: () => string, checked: readonly Checked[]): void {
  const { takes } = useTypeScript(tarball)
  const cases = checked.flatMap(([version, projects]) =>
    projects.map(
      (project): Case => [`TypeScript ${version}: ${project.name}`, () => takes(version, project)],
    ),
  )
  testTogether(cases, { atOnce: 2, timeoutMs: 300_000 })
}

/** Has the TypeScript of this checkout point at mistakes in the project that makes some. */
export function checkMistakes(tarball: () => string): void {
  const { errorsOfMistakes } = useTypeScript(tarball)
  let errors: string

  beforeAll(async () => {
    errors = await errorsOfMistakes()
  }, 300_000)

  test.each(Object.entries(MISTAKES))('in %s, errors point at the mistake', (_framework, file) => {
    const source = mistakesIn(file)
    const ofFile = errors.split('\n').filter((line) => line.startsWith(`${file}(`))
    expect(wordsAt(ofFile.join('\n'), source)).toEqual(wordsOfComments(source))
  })
}

function useTypeScript(tarball: () => string) {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-types-'))
  })
  afterAll(() => {
    endCheckers()
    rmSync(folder, { recursive: true, force: true })
  })

  async function projectFor(typescript: TypeScript, project: TypeProject): Promise<string> {
    const own = mkdtempSync(join(folder, 'project-'))
    await writeProject(own, tarball(), project, typescript)
    return own
  }

  async function takes(version: string, project: TypeProject): Promise<void> {
    const typescript = await typescriptOf(version)
    expect(await typescript.check(await projectFor(typescript, project))).toBe('')
  }

  async function errorsOfMistakes(): Promise<string> {
    const typescript = await typescriptOf(CURRENT)
    const own = await projectFor(typescript, MISTAKEN)
    for (const file of MISTAKEN.fixtures) writeFileSync(join(own, file), mistakesIn(file))
    return typescript.check(own)
  }

  return { takes, errorsOfMistakes }
}

/** Returns the source of a fixture whose mistakes are not expected. */
function mistakesIn(file: string): string {
  return readFileSync(join(FIXTURES, file), 'utf8').replaceAll('@ts-expect-error', 'mistake')
}

/** Returns the word at which each error stands, after the number of its line. */
function wordsAt(errors: string, source: string): string[] {
  const lines = source.split('\n')
  return Array.from(errors.matchAll(/^\S+\((\d+),(\d+)\): error /gm), ([, line, column]) => {
    const [word] = /^\W?\w+\W?/.exec(lines[Number(line) - 1]?.slice(Number(column) - 1) ?? '') ?? []
    return `${line} ${word?.replace(/[^\w']$/, '')}`
  })
}

/** Returns the word of each comment, after the number of the line below it. */
function wordsOfComments(source: string): string[] {
  const lines = source.split('\n').entries()
  return Array.from(lines).flatMap(([i, line]) => {
    const word = /\/\/ mistake (\S+):/.exec(line)?.[1]
    return word === undefined ? [] : `${i + 2} ${word}`
  })
}
