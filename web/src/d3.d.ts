// The parts of Debian's d3-array and d3-shape that the page uses; no package has their types.
declare module "d3-array/src/ticks" {
  export default function ticks(start: number, stop: number, count: number): number[];
}

declare module "d3-shape" {
  interface Line<Item> {
    (items: readonly Item[]): string | null;
    x(of: (item: Item, index: number) => number): this;
    y(of: (item: Item, index: number) => number): this;
  }
  export function line<Item>(): Line<Item>;
}
