import team from "../data/staff.json";
import stored from "../data/shifts.json";

const DAY = 24 * 60;
const NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

export const staff = team.staff;
export const roles = team.roles;
export const week = team.week;

export const days = NAMES.map((name, index) => {
  const date = new Date(`${week}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + index);
  return { name, date: date.toISOString().slice(0, 10), number: date.getUTCDate() };
});

const isPlaced = (shift) =>
  staff.some(({ id }) => id === shift.person) && days.some(({ date }) => date === shift.date);

export const initialShifts = stored.filter(isPlaced);
export const unplaced = stored.length - initialShifts.length;

export const minutes = (time) => {
  const [hours, rest] = time.split(":").map(Number);
  return hours * 60 + rest;
};

export function length({ start, end }) {
  const span = minutes(end) - minutes(start);
  return span < 0 ? span + DAY : span;
}

export const hoursOf = (shifts, person) =>
  shifts.filter((shift) => shift.person === person).reduce((sum, shift) => sum + length(shift), 0) / 60;

export const hoursText = (hours) => `${Number(hours.toFixed(2))} h`;

function span(shift) {
  const from = minutes(shift.start);
  return { from, to: from + length(shift) };
}

export function conflicts(shifts) {
  const found = new Set();
  shifts.forEach((one, index) => {
    for (const other of shifts.slice(index + 1)) {
      if (one.person !== other.person) continue;
      if (one.date !== other.date) continue;
      const [a, b] = [span(one), span(other)];
      if (a.from <= b.to && b.from <= a.to) {
        found.add(one.id);
        found.add(other.id);
      }
    }
  });
  return found;
}

export function countConflicts(shifts) {
  const clashing = conflicts(shifts);
  const people = staff.map(({ id }) => shifts.filter((s) => s.person === id && clashing.has(s.id)).length);
  return people.reduce((sum, count) => sum + Math.max(count - 1, 0), 0);
}

export function problemOf({ person, date, start, end }) {
  if (!person || !date) return "Choose a person and a day.";
  if (!start || !end) return "Give a start and an end.";
  if (start === end) return "Start and end are the same.";
  return "";
}

export function csv(shifts) {
  const name = (id) => staff.find((person) => person.id === id).name;
  const rows = [...shifts]
    .sort((a, b) => a.date.localeCompare(b.date) || a.start.localeCompare(b.start))
    .map((shift) => [name(shift.person), shift.date, shift.start, shift.end, shift.role]);
  return [["person", "date", "start", "end", "role"], ...rows].map((row) => row.join(",")).join("\n");
}
