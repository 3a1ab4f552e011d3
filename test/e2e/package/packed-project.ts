import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installInto, packCopy } from './packed.js'
import { ROOT } from './run.js'

/** The packed package, and a project that has it installed. */
export interface PackedProject {
  tarball: string
  project: string
}

/** Packs and installs the package for the tests of a file. Both parts are set in each test. */
export function usePackedProject(): Readonly<PackedProject> {
  const packed = {} as PackedProject

  beforeAll(async () => {
    packed.tarball = await packCopy()
    packed.project = await installInto(packed.tarball)
  })

  afterAll(() => {
    const { project, tarball } = packed
    for (const folder of [project, tarball && dirname(tarball)])
      if (folder) rmSync(folder, { recursive: true, force: true })
  })

  return packed
}

/** Where a program of this checkout's packages lies. */
export const bin = (name: string) => join(ROOT, 'node_modules/.bin', name)
