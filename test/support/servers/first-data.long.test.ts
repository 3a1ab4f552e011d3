import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FirstData, layFirstData } from './first-data.js'

let beside: string
let program: string
let made: number
let servers: number

beforeEach(async () => {
  beside = await mkdtemp(join(tmpdir(), 'headgate-first-'))
  program = join(beside, 'server')
  await writeFile(program, 'version 1')
  made = 0
  servers = 0
})

afterEach(() => rm(beside, { recursive: true }))

/** Creates the data of one more server, numbered in the order of creation. Returns its folder. */
async function lay(other: Partial<FirstData> = {}): Promise<string> {
  const folder = join(beside, `folder-${++servers}`)
  await mkdir(folder)
  async function make(): Promise<void> {
    await mkdir(join(folder, 'data'), { mode: 0o700 })
    await writeFile(join(folder, 'data', 'count'), `${++made}`, { mode: 0o640 })
    await writeFile(join(folder, 'log'), 'not kept')
  }
  await layFirstData(folder, { program, settings: [], files: ['data'], make, ...other }, beside)
  return folder
}

const countIn = (folder: string) => readFile(join(folder, 'data', 'count'), 'utf8')

async function archives(): Promise<string[]> {
  const folders = (await readdir(beside)).filter((name) => name.startsWith('headgate-data-'))
  return (await Promise.all(folders.map((folder) => readdir(join(beside, folder))))).flat()
}

test('later servers get the files that the first one made, with their modes, and nothing else', async () => {
  await lay()
  const folder = await lay()
  expect([await countIn(folder), made]).toEqual(['1', 1])
  expect(await readdir(folder)).toEqual(['data'])
  const modes = await Promise.all(['data', 'data/count'].map((name) => stat(join(folder, name))))
  expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o640])
})

test('another version, other settings or other files make new data', async () => {
  await lay()
  await lay({ settings: ['--other'] })
  expect(made).toBe(2)
  await lay({ files: ['data', 'log'] })
  expect(made).toBe(3)
  await writeFile(program, 'version 1.1')
  await lay()
  expect([made, (await archives()).length]).toEqual([4, 4])
})

test('several concurrent starts each get the files, and leave one archive', async () => {
  const folders = await Promise.all(Array.from({ length: 5 }, () => lay()))
  for (const folder of folders) expect(Number(await countIn(folder))).toBeGreaterThan(0)
  expect(await archives()).toHaveLength(1)
})

test('a failure to make or to keep the files leaves no archive', async () => {
  const broken = () => Promise.reject(new Error('no such locale'))
  await expect(lay({ make: broken })).rejects.toThrow('no such locale')
  await expect(lay({ files: ['data', 'no such file'] })).rejects.toThrow('no such file')
  expect(await archives()).toEqual([])
  await lay()
  expect(await archives()).toHaveLength(1)
})

test('a folder that others can write to, or that is a symbolic link, is refused', async () => {
  await lay()
  const name = (await readdir(beside)).find((each) => each.startsWith('headgate-data-')) ?? ''
  await chmod(join(beside, name), 0o770)
  await expect(lay()).rejects.toThrow(`${join(beside, name)} must be a folder that user`)
  await rm(join(beside, name), { recursive: true })
  await mkdir(join(beside, 'elsewhere'), { mode: 0o700 })
  await symlink(join(beside, 'elsewhere'), join(beside, name))
  await expect(lay()).rejects.toThrow('Remove it.')
})
