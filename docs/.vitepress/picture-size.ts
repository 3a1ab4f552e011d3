import { readFileSync } from 'node:fs'

/** Returns the width and height of an SVG or PNG in pixels; `undefined` for other files. */
export function pictureSize(path: string): readonly [width: number, height: number] | undefined {
  const file = readFileSync(path)
  if (path.endsWith('.png')) return [file.readUInt32BE(16), file.readUInt32BE(20)]
  const [, width, height] =
    /<svg [^>]*?\bwidth="(\d+)" height="(\d+)"/.exec(file.toString('latin1', 0, 1000)) ?? []
  return width === undefined ? undefined : [Number(width), Number(height)]
}
