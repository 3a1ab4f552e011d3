import { join } from 'node:path'

const FOLDER = join(__dirname, '../../src/dashboard/page')

/** Loads a module of the dashboard's page, which is JavaScript for browsers, and needs no document to load. */
export function pageModule<T extends object>(name: string): T {
  return jest.requireActual<T>(join(FOLDER, name))
}
