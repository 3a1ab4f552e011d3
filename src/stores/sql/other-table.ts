/** The table is there, and is another than the store makes. */
export class OtherTable extends Error {}
